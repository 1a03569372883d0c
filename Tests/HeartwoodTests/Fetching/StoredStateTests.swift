import Foundation
import Testing

@testable import Heartwood

/// For objects without changes in the context, a fetch gives the stores' state, whichever access path it takes.
@Suite struct StoredStateTests {
    private func names(_ objects: [NSManagedObject]) -> [String] { objects.compactMap { $0.value(forKey: "name") as? String } }

    /// A condition that no row can answer, beside one that rows can answer.
    private let hard = "name == %@ AND tasks[SIZE] == 0"

    @Test(arguments: StoreKind.allCases)
    func `A fetch without pending changes asks the store`(kind: StoreKind) throws {
        let stack = try TestStack(kind), person = stack.insert("Person", ["name": "old"])
        try stack.context.save()
        person.setValue("new", forKey: "name")
        stack.insert("Person", ["name": "new"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.includesPendingChanges = false
        for (name, expected) in [("old", 1), ("new", 0)] {
            for format in ["name == %@", hard] {
                request.predicate = NSPredicate(format: format, name)
                #expect(try stack.context.fetch(request).count == expected, "\(format) \(name)")
                #expect(try stack.context.count(for: request) == expected, "\(format) \(name)")
            }
        }
        request.predicate = NSPredicate(format: hard, "old")
        #expect(try stack.context.fetch(request).first === person)
        request.includesPendingChanges = true
        #expect(try stack.context.count(for: request) == 0)
        request.predicate = NSPredicate(format: hard, "new")
        #expect(try stack.context.count(for: request) == 2)
    }

    @Test
    func `Objects of several stores are sorted by their stored values`() throws {
        let pair = try StorePair((.inMemory, .inMemory), model: TestStack.model())
        let people = (0..<4).map { pair.insert("Person", ["name": "p\($0)", "age": $0], into: $0 % 2 == 0 ? pair.first : pair.second) }
        try pair.context.save()
        people[0].setValue(100, forKey: "age")
        let request = pair.request("Person", sort: ["age"])
        request.includesPendingChanges = false
        #expect(names(try pair.context.fetch(request)) == ["p0", "p1", "p2", "p3"])
        request.fetchLimit = 2
        #expect(names(try pair.context.fetch(request)) == ["p0", "p1"])
        request.includesPendingChanges = true
        #expect(names(try pair.context.fetch(request)) == ["p1", "p2"])
        pair.context.rollback()
        let reader = pair.anew(), writer = pair.anew()
        let read = try reader.fetch(pair.request("Person", "name == 'p0'"))[0]
        #expect(read.value(forKey: "age") as? Int == 0)
        try writer.fetch(pair.request("Person", "name == 'p0'"))[0].setValue(100, forKey: "age")
        try writer.save()
        request.fetchLimit = 3
        #expect(names(try reader.fetch(request)) == ["p1", "p2", "p3"])
        #expect(read.value(forKey: "age") as? Int == 0, "what was read stays as it was")
    }

    @Test(arguments: StoreKind.numbering)
    func `A row that another context saved is found beside any pending changes`(kind: StoreKind) throws {
        let stack = try TestStack(kind), person = stack.insert("Person", ["name": "old", "age": 1])
        person.setValue(stack.insert("Group", ["title": "g"]), forKey: "group")
        try stack.context.save()
        let reader = stack.newContext(), writer = stack.newContext()
        let read = try stack.fetch("Person", in: reader)[0]
        #expect(read.value(forKey: "name") as? String == "old")
        let written = try stack.fetch("Person", in: writer)[0]
        written.setValue("new", forKey: "name")
        try writer.save()
        let format = "name == 'new' AND group.title == 'g'"
        #expect(try stack.fetch("Person", format, in: reader) == [read])
        let group = stack.insert("Group", ["title": "another"], into: reader)
        #expect(try stack.fetch("Person", format, in: reader) == [read], "nobody's group")
        #expect(try stack.fetch("Person", "name == 'old' AND group.title == 'g'", in: reader).isEmpty)
        stack.insert("Person", ["name": "pending", "group": group], into: reader)
        #expect(try stack.fetch("Person", "group.title == 'another'", in: reader).count == 1)
        reader.rollback()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == 'new' AND SUBQUERY(tags, $t, SUBQUERY($t.people, $p, $p.age > 3).@count > 0).@count == 0")
        #expect(try reader.count(for: request) == 1)
        #expect(try reader.fetch(request) == [read])
        #expect(read.value(forKey: "name") as? String == "old", "what was read stays as it was")
        request.shouldRefreshRefetchedObjects = true
        #expect(try reader.fetch(request).first?.value(forKey: "name") as? String == "new")
    }

    /// The pending values of a changed object decide, along paths and for members.
    @Test(arguments: StoreKind.allCases)
    func `Pending changes along a path decide`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let groups = ["red", "blue"].map { stack.insert("Group", ["title": $0]) }
        for number in 0..<6 { stack.insert("Person", ["name": "p\(number)", "age": number, "group": groups[number % 2]]) }
        try stack.context.save()
        groups[0].setValue("green", forKey: "title")
        let moved = try stack.fetch("Person", "name == 'p1'")[0]
        moved.setValue(groups[0], forKey: "group")
        #expect(Set(names(try stack.fetch("Person", "group.title == 'green'"))) == ["p0", "p1", "p2", "p4"])
        #expect(try stack.fetch("Person", "group.title == 'red'").isEmpty)
        #expect(Set(names(try stack.fetch("Person", "group.title == 'blue' OR age == 0"))) == ["p0", "p3", "p5"])
        #expect(try stack.fetch("Group", "people.@count == 4") == [groups[0]])
        #expect(try stack.fetch("Group", "people.@count == 2") == [groups[1]])
        #expect(try stack.fetch("Group", "ANY people.name == 'p1'") == [groups[0]])
        #expect(try stack.fetch("Group", "SUBQUERY(people, $p, $p.name == 'p1').@count == 0") == [groups[1]])
        stack.context.delete(moved)
        #expect(try stack.fetch("Group", "people.@count == 3") == [groups[0]])
    }

    /// A key path from an object in a predicate is evaluated once, when the fetch begins: a parent on another queue reads no object of its child.
    @Test(arguments: StoreKind.allCases)
    func `The fetching thread reads the value of a predicate's object`(kind: StoreKind) throws {
        let stack = try TestStack(kind), group = stack.insert("Group", ["title": "ann"])
        for name in ["ann", "bob"] { stack.insert("Person", ["name": name, "email": "\(name)@x", "group": group]) }
        try stack.context.save()
        let person = try stack.fetch("Person", "name == 'bob'")[0]
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "email == %@.email", person)
        #expect(try stack.context.fetch(request) == [person])
        if StoreKind.planning.contains(kind) {
            #expect(try stack.context.explain(request).parts.allSatisfy { $0.access == .index("unique:email") })
        }
        let child = stack.context.child()
        child.own(group).setValue("bob", forKey: "title")
        #expect(names(try stack.fetch("Person", "name == %@.title", [child.own(group)], in: child)) == ["bob"])
        #expect(names(try stack.fetch("Person", "name == %@.title", [group], in: child)) == ["ann"])
    }
}
