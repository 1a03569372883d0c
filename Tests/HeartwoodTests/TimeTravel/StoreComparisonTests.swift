import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The objects that two commits do not have alike.
@Suite struct StoreComparisonTests {
    /// A comparison as lines: sign, entity, the object's number, properties with both sides.
    private func lines(_ old: NSManagedObjectContext, _ new: NSManagedObjectContext, _ entities: Set<String>? = nil) throws -> [String] {
        var lines: [String] = []
        try StoreComparison(from: try #require(old.store), to: try #require(new.store)).run(entities) { object in
            let properties = object.properties.map { "\($0.name) \(Self.text($0.change))" }.sorted().joined(separator: "; ")
            lines.append("\(object.kind.rawValue) \(object.entity) \(Self.row(object.object)): \(properties)")
        }
        return lines
    }

    private static func row(_ uri: String) -> String { String(uri.split(separator: "/").suffix(2).joined(separator: "/")) }

    private static func text(_ change: PropertyDifference.Change) -> String {
        func shown(_ value: PropertyDifference.Value?) -> String { value.map { ValueText.of($0.object) } ?? "nil" }
        switch change {
        case .attribute(let old, let new): return "\(shown(old)) -> \(shown(new))"
        case .toOne(let old, let new): return "\(old.map(row) ?? "nil") -> \(new.map(row) ?? "nil")"
        case .members(let added, let removed): return (removed.map { "-\(row($0))" } + added.map { "+\(row($0))" }).joined(separator: " ")
        case .order(let old, let new): return "\(old.map(row)) -> \(new.map(row))"
        }
    }

    @Test
    func `Insertions, updates and deletions are found, with old and new values, in either direction`() throws {
        let store = try PastStore(), stack = store.stack
        let ada = stack.insert("Person", ["name": "Ada", "age": 1]), ben = stack.insert("Person", ["name": "Ben", "age": 2])
        let first = try store.save()
        ada.setValue(10, forKey: "age")
        ada.setValue("a@x", forKey: "email")
        stack.context.delete(ben)
        let second = try store.save()
        stack.insert("Person", ["name": "Cy"])
        let third = try store.save()
        let a = try store.open(first), b = try store.open(second), c = try store.open(third)
        #expect(try lines(a, a).isEmpty && lines(c, c).isEmpty)
        #expect(try lines(a, b) == [
            "updated Person Person/p1: age 1 -> 10; email nil -> a@x", "deleted Person Person/p2: age 2 -> nil; name Ben -> nil",
        ])
        #expect(try lines(b, a) == [
            "updated Person Person/p1: age 10 -> 1; email a@x -> nil", "inserted Person Person/p2: age nil -> 2; name nil -> Ben",
        ])
        #expect(try lines(b, c) == ["inserted Person Person/p3: age nil -> 1; name nil -> Cy"])
        #expect(try lines(a, c).count == 3)
        #expect(try lines(a, c, ["Group"]).isEmpty && lines(a, c, ["Person"]).count == 3)
    }

    @Test
    func `A value that went and came again is no difference, and neither is a row that was written as it was`() throws {
        let store = try PastStore(), ada = store.stack.insert("Person", ["name": "Ada", "age": 1])
        let first = try store.save()
        ada.setValue(2, forKey: "age")
        _ = try store.save()
        ada.setValue(1, forKey: "age")
        let third = try store.save()
        #expect(try lines(store.open(first), store.open(third)).isEmpty)
    }

    @Test
    func `Each kind of relationship differs at both of its sides`() throws {
        let store = try PastStore(), stack = store.stack
        let ada = stack.insert("Person", ["name": "Ada"]), ben = stack.insert("Person", ["name": "Ben"])
        let group = stack.insert("Group", ["title": "g"]), other = stack.insert("Group", ["title": "h"])
        let tag = stack.insert("Tag", ["label": "x"]), tasks = ["one", "two"].map { stack.insert("Task", ["title": $0]) }
        try stack.context.obtainPermanentIDs(for: [ada, ben, group, other, tag] + tasks)
        let empty = try store.save()
        ada.setValue(group, forKey: "group")
        ada.setValue(NSSet(object: tag), forKey: "tags")
        ada.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
        ada.setValue(ben, forKey: "partner")
        let full = try store.save()
        ada.setValue(other, forKey: "group")
        ada.setValue(NSOrderedSet(array: [tasks[1], tasks[0]]), forKey: "tasks")
        let moved = try store.save()
        func row(_ object: NSManagedObject) -> String { Self.row(object.objectID.uriRepresentation().absoluteString) }
        let (a, b) = (row(ada), row(ben)), order = tasks.map(row)
        let one = try store.open(empty), two = try store.open(full), three = try store.open(moved)
        #expect(try Set(lines(one, two)) == [
            "updated Person \(a): group nil -> \(row(group)); partner nil -> \(b); tags +\(row(tag)); tasks [] -> \(order)",
            "updated Person \(b): partner nil -> \(a)", "updated Group \(row(group)): people +\(a)", "updated Tag \(row(tag)): people +\(a)",
            "updated Task \(order[0]): owner nil -> \(a)", "updated Task \(order[1]): owner nil -> \(a)",
        ])
        #expect(try Set(lines(two, three)) == [
            "updated Person \(a): group \(row(group)) -> \(row(other)); tasks \(order) -> \(Array(order.reversed()))",
            "updated Group \(row(group)): people -\(a)", "updated Group \(row(other)): people +\(a)",
        ])
        #expect(try lines(two, three, ["Group"]).count == 2 && lines(one, three, ["Tag"]).count == 1)
    }

    @Test
    func `A migration between the two commits renames and adds, and a type that was widened is no difference`() throws {
        let before: Sketch = "Person: name:string age:int32\nOld: note:string"
        let after: Sketch = "Human~Person: title:string~name age:int64 email:string=none\nNew: label:string"
        let chain = try Chain()
        var commit: UInt64 = 0
        try chain.with(before.model) { context in
            context.make("Person", ["name": "Ada", "age": 36])
            context.make("Person", ["name": "Ben", "age": 7])
            context.make("Old", ["note": "gone"])
            try context.save()
            commit = context.store?.commitNumber ?? 0
        }
        try chain.with(after.model) { context in
            context.make("New", ["label": "n"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Human")
            request.predicate = NSPredicate(format: "title == 'Ada'")
            for human in try context.fetch(request) { human.setValue("Ada L.", forKey: "title") }
        }
        let found = try chain.with(before.model, options: [NSRecordLogAsOfOption: commit]) { old in
            try chain.with(after.model, options: [NSReadOnlyPersistentStoreOption: true]) { new in try lines(old, new) }
        }
        #expect(found == [
            "updated Human Human/p1: email nil -> none; title Ada -> Ada L.", "updated Human Human/p2: email nil -> none",
            "inserted New New/p1: label nil -> n", "deleted Old Old/p1: note gone -> nil",
        ])
    }

    @Test
    func `A copy is compared by rows, also after both went on, and a foreign store is refused`() throws {
        let store = try PastStore(), stack = store.stack
        let ada = stack.insert("Person", ["name": "Ada"])
        let everything = stack.insert("Everything", ["data": Data(repeating: 1, count: 9000), "decimal": 1])
        for number in 0..<20 { stack.insert("Person", ["name": "p\(number)"]) }
        _ = try store.save()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID()).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        try #require(stack.store.log).copy(to: url.path)
        ada.setValue("Ada L.", forKey: "name")
        everything.setValue(Data(repeating: 2, count: 9000), forKey: "data")
        _ = try store.save()
        let copy = try TestStack(.recordLog, at: url)
        let changed = try Set(lines(copy.context, stack.context).map { String($0.prefix { $0 != ":" }) })
        #expect(changed == ["updated Person Person/p1", "updated Everything Everything/p1"])
        copy.insert("Tag", ["label": "x"])
        try copy.context.save()
        #expect(try lines(stack.context, copy.context).contains("inserted Tag Tag/p1: label nil -> x"))
        let foreign = try TestStack(.recordLog)
        #expect(failure { _ = try lines(stack.context, foreign.context) }?.code == NSPersistentStoreOperationError)
        let memory = try TestStack(.binary)
        #expect(failure { _ = try lines(stack.context, memory.context) } != nil)
    }

    @Test
    func `Of one file only the rows that differ are read`() throws {
        let store = try PastStore(), stack = store.stack
        for number in 0..<2000 { stack.insert("Person", ["name": "p\(number)", "age": number]) }
        let first = try store.save()
        let changed = try #require(try stack.fetch("Person", "age == 1500").first)
        changed.setValue("changed", forKey: "name")
        let second = try store.save()
        let old = try store.open(first), new = try store.open(second)
        let before = try #require(new.store?.recordLog).statistics.rowReads
        #expect(try lines(old, new).count == 1)
        #expect(try #require(new.store?.recordLog).statistics.rowReads - before < 10)
    }
}
