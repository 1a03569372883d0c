import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Objects of a past commit that come back into the store of today.
@Suite struct CherryPickTests {
    private let store: PastStore
    private let ada: NSManagedObject, ben: NSManagedObject, group: NSManagedObject, tag: NSManagedObject
    private let tasks: [NSManagedObject]
    private let commit: UInt64

    /// Ada and Ben in a group; Ada has a tag, two tasks and Ben as her partner.
    init() throws {
        store = try PastStore()
        let stack = store.stack
        group = stack.insert("Group", ["title": "g"])
        tag = stack.insert("Tag", ["label": "x"])
        ada = stack.insert("Person", ["name": "Ada", "age": 36, "email": "a@x", "group": group, "tags": NSSet(object: tag)])
        ben = stack.insert("Person", ["name": "Ben", "age": 7, "group": group, "partner": ada])
        tasks = ["one", "two"].map { stack.insert("Task", ["title": $0]) }
        ada.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
        commit = try store.save()
    }

    private func pick(
        _ format: String?, _ policy: CherryPick.Policy = .refuse, entity: String = "Person", isDry: Bool = false
    ) throws -> CherryPickReport {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        let source = try store.open(commit)
        return try CherryPick(from: source, into: store.stack.newContext(), policy).run(source.fetch(request), isDry: isDry)
    }

    private func now(_ name: String) throws -> NSManagedObject? { try store.stack.anew().person(name) }

    private func uri(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }

    @Test(arguments: [false, true])
    func `A deleted object comes back under its old URI, with its values and relationships`(isCompacted: Bool) throws {
        let id = ada.objectID
        // Its tasks go with it.
        store.stack.context.delete(ada)
        _ = try store.save()
        let source = try store.open(commit)
        if isCompacted {
            try store.stack.persistentStore.compactRecordLog()
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == 'Ada'")
        let tasks = try source.fetch(NSFetchRequest<NSManagedObject>(entityName: "Task"))
        #expect(tasks.count == 2)
        let refused = try CherryPick(from: source, into: store.stack.newContext(), .refuse).run(source.fetch(request), isDry: false)
        #expect(refused.conflicts.map(\.reason) == [.missingTarget, .missingTarget] && !refused.isSaved && refused.inserted.count == 1)
        let report = try CherryPick(from: source, into: store.stack.newContext(), .keep).run(source.fetch(request), isDry: false)
        #expect(report.isSaved && report.inserted == [id.uriRepresentation().absoluteString] && report.renumbered.isEmpty)
        let back = try store.stack.anew().existingObject(with: id)
        #expect(back.value(forKey: "name") as? String == "Ada" && back.value(forKey: "age") as? Int == 36)
        #expect((back.value(forKey: "group") as? NSManagedObject)?.objectID == group.objectID)
        #expect((back.value(forKey: "partner") as? NSManagedObject)?.objectID == ben.objectID)
        #expect((back.value(forKey: "tags") as? Set<NSManagedObject>)?.first?.objectID == tag.objectID)
        #expect((back.value(forKey: "tasks") as? NSOrderedSet)?.count == 0)
        #expect(try StoreVerification.verify(path: store.stack.url.path).isSound)
        let next = store.stack.insert("Person", ["name": "Next"])
        _ = try store.save()
        #expect(next.objectID != id, "no number is given twice")
    }

    @Test
    func `Of two that bring one object back at once, the second one fails, and the object is as the first one saved it`() throws {
        store.stack.context.delete(ben)
        _ = try store.save()
        let context = store.stack.newContext()
        nonisolated(unsafe) var first: CherryPickReport?
        nonisolated(unsafe) let other = self
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextWillSave, object: context, queue: nil) { _ in
            first = try? other.pick("name == 'Ben'", .keep)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == 'Ben'")
        let source = try store.open(commit)
        let error = #expect(throws: NSError.self) {
            try CherryPick(from: source, into: context, .keep).run(source.fetch(request), isDry: false)
        }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectMergeError)
        #expect(first?.isSaved == true && first?.inserted == [uri(ben)])
        let back = try store.stack.anew().existingObject(with: ben.objectID)
        #expect(back.value(forKey: "age") as? Int == 7)
        #expect(try StoreVerification.verify(path: store.stack.url.path).isSound)
    }

    @Test
    func `Objects that come along together are connected with each other`() throws {
        store.stack.context.delete(ada)
        store.stack.context.delete(ben)
        store.stack.context.delete(group)
        _ = try store.save()
        // First what others refer to.
        #expect(try pick(nil, .refuse, entity: "Group").conflicts.map(\.reason) == [.missingTarget, .missingTarget])
        #expect(try pick(nil, .keep, entity: "Group").isSaved)
        #expect(try pick(nil, .keep, entity: "Task").isSaved)
        let report = try pick(nil)
        #expect(report.isSaved && report.conflicts.isEmpty && report.inserted.count == 2)
        let back = try #require(try now("Ada"))
        #expect((back.value(forKey: "partner") as? NSManagedObject)?.value(forKey: "name") as? String == "Ben")
        #expect((back.value(forKey: "group") as? NSManagedObject)?.objectID == group.objectID)
        let titles = (back.value(forKey: "tasks") as? NSOrderedSet)?.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
        #expect(titles == ["one", "two"])
        #expect(try pick(nil).inserted.isEmpty && pick(nil).conflicts.isEmpty, "everything is as it was")
    }

    @Test(arguments: CherryPick.Policy.allCases)
    func `A changed object is a conflict; keep leaves it, overwrite takes its values back`(policy: CherryPick.Policy) throws {
        ada.setValue("Ada, by mistake", forKey: "name")
        ada.setValue(nil, forKey: "group")
        ada.setValue(NSOrderedSet(array: tasks.reversed()), forKey: "tasks")
        let before = try store.save()
        let report = try pick("name == 'Ada'", policy)
        let person = try store.stack.anew().existingObject(with: ada.objectID)
        if policy == .overwrite {
            #expect(report.isSaved && report.conflicts.isEmpty)
            #expect(report.updated.map(\.object) == [uri(ada)] && Set(report.updated[0].properties) == ["name", "group", "tasks"])
            #expect(person.value(forKey: "name") as? String == "Ada" && person.value(forKey: "group") != nil)
            #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.map { ($0 as? NSManagedObject)?.objectID } == tasks.map(\.objectID))
        } else {
            #expect(report.conflicts.map(\.reason) == [.changedSince] && !report.isSaved)
            #expect(["name", "group", "tasks"].allSatisfy(report.conflicts[0].detail.contains))
            #expect(person.value(forKey: "name") as? String == "Ada, by mistake" && store.commit == before)
        }
    }

    @Test(arguments: CherryPick.Policy.allCases)
    func `A value that another object has now is a conflict, and the object does not come`(policy: CherryPick.Policy) throws {
        store.stack.context.delete(ada)
        _ = try store.save()
        store.stack.insert("Person", ["name": "Eve", "email": "a@x"])
        store.stack.context.delete(ben)
        _ = try store.save()
        let report = try pick(nil, policy)
        #expect(report.conflicts.contains { $0.reason == .notUnique && $0.detail.contains("email = a@x") })
        #expect(report.isSaved == (policy != .refuse))
        #expect(try now("Ada") == nil && (now("Ben") != nil) == (policy != .refuse))
    }

    @Test
    func `An object of another entity of the family does not break a constraint that a subentity alone has`() throws {
        func model() -> NSManagedObjectModel {
            let model = NSManagedObjectModel(), base = NSEntityDescription(), first = NSEntityDescription(), second = NSEntityDescription()
            (base.name, first.name, second.name) = ("Base", "First", "Second")
            base.properties = [TestStack.attribute("number", .integer32AttributeType)]
            base.subentities = [first, second]
            second.uniquenessConstraints = [["number"]]
            model.entities = [base, first, second]
            return model
        }
        let store = try PastStore(model()), object = store.stack.insert("Second", ["number": 1]), commit = try store.save()
        store.stack.context.delete(object)
        store.stack.insert("First", ["number": 1])
        _ = try store.save()
        let source = try store.open(commit, model()), request = NSFetchRequest<NSManagedObject>(entityName: "Second")
        func pick() throws -> CherryPickReport {
            try CherryPick(from: source, into: store.stack.newContext(), .refuse).run(source.fetch(request), isDry: false)
        }
        let report = try pick()
        #expect(report.isSaved && report.conflicts.isEmpty && report.inserted.count == 1)
        store.stack.context.delete(try store.stack.context.existingObject(with: object.objectID))
        store.stack.insert("Second", ["number": 1])
        _ = try store.save()
        #expect(try pick().conflicts.map(\.reason) == [.notUnique])
    }

    @Test
    func `A destination that has another object now is left to it`() throws {
        store.stack.context.delete(ada)
        _ = try store.save()
        let cy = store.stack.insert("Person", ["name": "Cy", "partner": ben])
        _ = try store.save()
        let report = try pick("name == 'Ada'", .keep)
        #expect(report.isSaved && report.conflicts.map(\.reason).contains(.takenTarget))
        #expect(try #require(try now("Ada")).value(forKey: "partner") == nil)
        #expect((try #require(try now("Ben")).value(forKey: "partner") as? NSManagedObject)?.objectID == cy.objectID)
    }

    @Test(arguments: CherryPick.Policy.allCases)
    func `A dry run reports the same and saves nothing`(policy: CherryPick.Policy) throws {
        store.stack.context.delete(ben)
        ada.setValue(1, forKey: "age")
        let before = try store.save()
        let dry = try pick(nil, policy, isDry: true)
        #expect(!dry.isSaved && store.commit == before && dry.found == 2)
        let report = try pick(nil, policy)
        #expect(report.inserted == dry.inserted && report.updated.map(\.object) == dry.updated.map(\.object))
        #expect(report.conflicts.map(\.reason) == dry.conflicts.map(\.reason))
    }

    @Test
    func `Nothing that matches, and nothing that differs, save nothing`() throws {
        let before = store.commit
        #expect(try pick("name == 'Nobody'").found == 0)
        let same = try pick(nil)
        #expect(same.found == 2 && same.inserted.isEmpty && same.updated.isEmpty && same.conflicts.isEmpty && !same.isSaved)
        #expect(store.commit == before)
    }

    @Test
    func `Each type of attribute comes back`() throws {
        let values: [String: NSObject] = [
            "int16": NSNumber(value: Int16(-3)), "int32": NSNumber(value: Int32.max), "int64": NSNumber(value: Int64.min),
            "double": NSNumber(value: 0.1), "float": NSNumber(value: Float(0.5)), "decimal": NSDecimalNumber(string: "12.5"),
            "string": NSString(string: "text"), "bool": NSNumber(value: true), "date": NSDate(timeIntervalSinceReferenceDate: 0.25),
            "data": NSData(data: Data(repeating: 9, count: 5000)), "transformable": NSArray(array: ["two", "three"] as [NSString]),
        ]
        let object = store.stack.insert("Everything", values), uuid = UUID()
        object.setValue(uuid, forKey: "uuid")
        object.setValue(URL(string: "https://example.org"), forKey: "uri")
        let there = try store.save()
        store.stack.context.delete(object)
        _ = try store.save()
        let source = try store.open(there), past = try source.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything"))
        let report = try CherryPick(from: source, into: store.stack.newContext(), .refuse).run(past, isDry: false)
        #expect(report.isSaved && report.conflicts.isEmpty)
        let context = store.stack.newContext(), back = try context.existingObject(with: object.objectID)
        for (name, value) in values { #expect((back.value(forKey: name) as? NSObject)?.isEqual(value) == true, "\(name)") }
        #expect(back.value(forKey: "uuid") as? UUID == uuid && (back.value(forKey: "uri") as? URL)?.host() == "example.org")
    }

    @Test
    func `A past of another line, whose numbers the store has not given, gets new ones`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID()).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        try #require(store.stack.store.log).copy(to: url.path)
        let copy = try TestStack(.recordLog, at: url)
        copy.insert("Tag", ["label": "only there"])
        try copy.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label == 'only there'")
        let source = copy.newContext()
        let report = try CherryPick(from: source, into: store.stack.newContext(), .refuse).run(source.fetch(request), isDry: false)
        #expect(report.isSaved && report.renumbered.count == 1)
        #expect(try store.stack.fetch("Tag", "label == 'only there'", in: store.stack.newContext()).count == 1)
        let foreign = try TestStack(.recordLog)
        let refused = failure { _ = try CherryPick(from: foreign.context, into: store.stack.newContext(), .refuse) }
        #expect(refused?.code == NSPersistentStoreOperationError)
    }

    /// A copy of the store's file, and a URL that is removed with it.
    private final class Copy {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID()).heartwood")
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    /// Both lines have given the same row number to another object. The pick took the two for one: with `overwrite` the store's own object got
    /// the values of the other, and relationships led to it under every policy.
    @Test(arguments: [false, true], CherryPick.Policy.allCases)
    func `An object that another line has made after the two parted is no object of the store, whatever its number`(
        isPromoted: Bool, policy: CherryPick.Policy
    ) throws {
        let file = Copy()
        try FileManager.default.copyItem(at: store.stack.url, to: file.url)
        if isPromoted { try LogStore.promote(path: file.url.path, options: StoredModel.options) }
        let copy = try TestStack(.recordLog, at: file.url)
        let theirs = copy.insert("Tag", ["label": "theirs"]), person = copy.insert("Person", ["name": "Cleo", "tags": NSSet(object: theirs)])
        try copy.context.save()
        let ours = store.stack.insert("Tag", ["label": "ours"]), here = store.stack.insert("Person", ["name": "Dora"])
        _ = try store.save()
        #expect(uri(ours) == uri(theirs) && uri(here) == uri(person), "the numbers are the same")
        let source = copy.newContext(), context = store.stack.newContext()
        let tags = NSFetchRequest<NSManagedObject>(entityName: "Tag"), people = NSFetchRequest<NSManagedObject>(entityName: "Person")
        tags.predicate = NSPredicate(format: "label == 'theirs'")
        people.predicate = NSPredicate(format: "name == 'Cleo'")
        // Alone: its tag is not there.
        let alone = try CherryPick(from: source, into: store.stack.newContext(), policy).run(source.fetch(people), isDry: true)
        #expect(alone.conflicts.map(\.reason) == [.missingTarget] && alone.updated.isEmpty && alone.renumbered == [uri(person)])
        // Objects of before are the same ones.
        people.predicate = NSPredicate(format: "name IN {'Cleo', 'Ada'}")
        let report = try CherryPick(from: source, into: context, policy).run(source.fetch(people) + source.fetch(tags), isDry: false)
        #expect(report.isSaved && report.conflicts.isEmpty && report.updated.isEmpty)
        #expect(report.inserted.count == 2 && report.renumbered.count == 2)
        let all = try store.stack.anew().fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        #expect(Set(all.compactMap { $0.value(forKey: "label") as? String }).isSuperset(of: ["ours", "theirs"]))
        let cleo = try #require(try now("Cleo")), found = cleo.value(forKey: "tags") as? Set<NSManagedObject>
        #expect(found?.map { $0.value(forKey: "label") as? String } == ["theirs"] && uri(cleo) != uri(person))
        #expect(try now("Dora") != nil)
    }

    @Test
    func `Where two lines have parted behind a commit that neither log has, only what is as old as that comes back`() throws {
        let file = Copy()
        try #require(store.stack.store.log).copy(to: file.url.path)
        try LogStore.promote(path: file.url.path, options: StoredModel.options)
        let copy = try TestStack(.recordLog, at: file.url)
        copy.insert("Tag", ["label": "theirs"])
        try copy.context.save()
        for stack in [copy, store.stack] {
            stack.insert("Tag", ["label": "later"])
            try stack.context.save()
            try stack.persistentStore.compactRecordLog()
        }
        let parted = failure { _ = try CherryPick(from: copy.newContext(), into: store.stack.newContext(), .overwrite) }
        #expect(parted?.code == NSPersistentStoreOperationError && parted?.localizedDescription.contains("behind commit \(commit)") == true)
    }
}
