import Foundation
import Testing

@testable import Heartwood

@Suite struct FollowingTests {
    /// ada 1, bob 2, cid 2, dan 3.
    private func followed(
        _ format: String? = nil, sort: [String] = ["age", "name"], sections: String? = "age", _ change: (NSFetchRequest<Person>) -> Void = { _ in }
    ) throws -> (TestStack, NSFetchedResultsController<Person>, ListMirror) {
        let stack = try TestStack(.inMemory)
        for (name, age) in [("ada", 1), ("bob", 2), ("cid", 2), ("dan", 3)] { stack.insert("Person", ["name": name, "age": age]) }
        try stack.context.save()
        let controller = stack.controller(format, sort: sort, sections: sections, change), mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        return (stack, controller, mirror)
    }

    private func person(_ name: String, _ stack: TestStack) throws -> NSManagedObject {
        try #require(try stack.fetch("Person", "name == %@", [name]).first)
    }

    private func told(_ stack: TestStack, _ mirror: ListMirror, _ change: () throws -> Void) rethrows -> [String] {
        try change()
        stack.context.processPendingChanges()
        #expect(mirror.problems == [])
        return mirror.takeLog()
    }

    @Test
    func `An insertion is reported with its new section`() throws {
        let (stack, controller, mirror) = try followed()
        #expect(told(stack, mirror) { stack.insert("Person", ["name": "abe", "age": 1]) } == ["will", "insert abe - 0.0", "did"])
        #expect(
            told(stack, mirror) { stack.insert("Person", ["name": "eve", "age": 0]) } == ["will", "section insert 0 0", "insert eve - 0.0", "did"])
        #expect(controller.shown == "0: eve | 1: abe ada | 2: bob cid | 3: dan")
        // A save changes nothing visible.
        try stack.context.save()
        #expect(mirror.takeLog() == [])
        #expect(controller.list.entries.allSatisfy { !$0.key.isTemporary })
        #expect(controller.fetchedObjects?.allSatisfy { controller.indexPath(forObject: $0) != nil } == true)
    }

    @Test
    func `Deletions are reported by old positions, and sections are removed with their last object`() throws {
        let (stack, controller, mirror) = try followed()
        let log = try told(stack, mirror) {
            for name in ["ada", "cid"] { stack.context.delete(try person(name, stack)) }
        }
        #expect(log == ["will", "section delete 0 1", "delete ? 1.1 -", "delete ? 0.0 -", "did"])
        #expect(controller.shown == "2: bob | 3: dan")
    }

    @Test
    func `An update keeps its position and a move has two`() throws {
        let (stack, controller, mirror) = try followed()
        #expect(try told(stack, mirror) { try person("cid", stack).setValue("c@d.e", forKey: "email") } == ["will", "update cid 1.1 1.1", "did"])
        // The order's value changes, and the position does not.
        #expect(try told(stack, mirror) { try person("cid", stack).setValue("cod", forKey: "name") } == ["will", "update cod 1.1 1.1", "did"])
        #expect(try told(stack, mirror) { try person("cod", stack).setValue("abe", forKey: "name") } == ["will", "move abe 1.1 1.0", "did"])
        #expect(try told(stack, mirror) { try person("abe", stack).setValue(3, forKey: "age") } == ["will", "move abe 1.0 2.0", "did"])
        #expect(
            try told(stack, mirror) { try person("ada", stack).setValue(2, forKey: "age") }
                == ["will", "section delete 0 1", "move ada 0.0 0.0", "did"])
        #expect(controller.shown == "2: ada bob | 3: abe dan")
        // An update after an insertion has another new position.
        let log = try told(stack, mirror) {
            stack.insert("Person", ["name": "aaa", "age": 2])
            try person("bob", stack).setValue("b@b.b", forKey: "email")
        }
        #expect(log == ["will", "insert aaa - 0.0", "update bob 0.1 0.2", "did"])
    }

    @Test
    func `An object that begins to match is inserted and one that ceases to is deleted`() throws {
        let (stack, controller, mirror) = try followed("age > 1", sections: nil)
        #expect(controller.shown == "bob cid dan")
        #expect(try told(stack, mirror) { try person("ada", stack).setValue(2, forKey: "age") } == ["will", "insert ada - 0.0", "did"])
        #expect(try told(stack, mirror) { try person("bob", stack).setValue(0, forKey: "age") } == ["will", "delete bob 0.1 -", "did"])
        #expect(try told(stack, mirror) { try person("bob", stack).setValue("b@b.b", forKey: "email") } == [])
        #expect(told(stack, mirror) { stack.insert("Group", ["title": "x"]) } == [])
        let log = told(stack, mirror) { stack.context.rollback() }
        #expect(log.filter { !$0.hasPrefix("update") } == ["will", "delete ada 0.0 -", "insert bob - 0.0", "did"])
        #expect(controller.shown == "bob cid dan")
    }

    @Test
    func `A section that passes another one is deleted and inserted`() throws {
        let (stack, controller, mirror) = try followed(sort: ["group.title", "name"], sections: "group.title")
        let law = stack.insert("Group", ["title": "Law"])
        for name in ["ada", "bob"] { try person(name, stack).setValue(law, forKey: "group") }
        stack.context.processPendingChanges()
        #expect(controller.shown == ": cid dan | Law: ada bob")
        _ = mirror.takeLog()
        // A change of an object that the list does not contain.
        #expect(
            told(stack, mirror) { law.setValue("Art", forKey: "title") }
                == ["will", "section delete 1 Law", "section insert 1 Art", "move ada 1.0 1.0", "move bob 1.1 1.1", "did"])
        // Undoing it is a change as well.
        law.setValue("Law", forKey: "title")
        stack.context.processPendingChanges()
        #expect(controller.shown == ": cid dan | Law: ada bob" && mirror.problems == [])
        // A change of only its members is none: nothing is fetched for it.
        _ = mirror.takeLog()
        stack.context.lastQuery = QueryStatistics()
        #expect(try told(stack, mirror) { try person("cid", stack).setValue(law, forKey: "group") } == ["will", "move cid 0.0 1.2", "did"])
    }

    @Test
    func `Sections that swap their positions are reported so`() throws {
        let (stack, controller, mirror) = try followed()
        let log = try told(stack, mirror) {
            for name in ["bob", "cid"] { try person(name, stack).setValue(1, forKey: "age") }
            try person("ada", stack).setValue(2, forKey: "age")
        }
        #expect(controller.shown == "1: bob cid | 2: ada | 3: dan")
        #expect(log.first == "will" && log.last == "did" && !log.contains { $0.hasPrefix("section") })
        #expect(mirror.sections == ListMirror.sections(of: controller))
    }

    @Test
    func `A window moves with the rows before it`() throws {
        let (stack, controller, mirror) = try followed(sort: ["name"], sections: nil) { ($0.fetchOffset, $0.fetchLimit) = (1, 2) }
        #expect(controller.shown == "bob cid")
        #expect(told(stack, mirror) { stack.insert("Person", ["name": "abe"]) } == ["will", "delete cid 0.1 -", "insert ada - 0.0", "did"])
        #expect(try told(stack, mirror) { stack.context.delete(try person("ada", stack)) } == ["will", "delete ? 0.0 -", "insert cid - 0.1", "did"])
    }

    @Test
    func `Merged changes of objects that the context does not know are followed`() throws {
        let (stack, controller, mirror) = try followed("age > 1", sections: nil) { $0.fetchBatchSize = 2 }
        let other = stack.newContext()
        stack.context.automaticallyMergesChangesFromParent = true
        try withExtendedLifetime(other) {
            let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)], in: other)
            people[0].setValue(5, forKey: "age")
            other.delete(people[1])
            stack.insert("Person", ["name": "eve", "age": 4], into: other)
            try other.save()
        }
        #expect(controller.shown == "cid dan eve ada")
        #expect(mirror.problems == [])
        #expect(Set(mirror.takeLog()) == ["will", "delete ? 0.0 -", "insert ada - 0.3", "insert eve - 0.2", "did"])
        // A refreshed object is reported as updated.
        let cid = try person("cid", stack)
        #expect(told(stack, mirror) { stack.context.refresh(cid, mergeChanges: true) } == ["will", "update cid 0.0 0.0", "did"])
    }

    @Test
    func `A reset is not reported, and the next change fetches everything again`() throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        let snapshots = SnapshotKeeper(), differences = DifferenceKeeper(), others = [stack.controller(), stack.controller()]
        others[0].delegate = snapshots
        others[1].delegate = differences
        for other in others { try other.performFetch() }
        let first = controller.object(at: IndexPath(row: 0, section: 0))
        stack.insert("Person", ["name": "eve", "age": 9])
        stack.context.processPendingChanges()
        _ = mirror.takeLog()
        let calls = [snapshots.calls, differences.calls]
        stack.context.reset()
        stack.context.processPendingChanges()
        #expect(mirror.takeLog() == [] && [snapshots.calls, differences.calls] == calls)
        #expect(controller.shown == "ada bob cid dan -", "nothing is known of what was never saved")
        #expect(controller.object(at: IndexPath(row: 0, section: 0)) !== first && controller.fetchedObjects?.first?.name == "ada")
        let log = told(stack, mirror) { stack.insert("Person", ["name": "fay", "age": 10]) }
        #expect(log == ["will", "delete ? 0.4 -", "insert fay - 0.4", "did"])
        #expect(controller.shown == "ada bob cid dan fay" && others.allSatisfy { $0.shown == controller.shown })
    }

    @Test
    func `Objects of several stores are followed as one list`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let stores = try (0..<2).map { _ in try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil) }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func add(_ name: String, _ age: Int, to store: Int) {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            object.setValuesForKeys(["name": name, "age": age])
            context.assign(object, to: stores[store])
        }
        for (number, name) in ["ada", "bob", "cid", "dan"].enumerated() { add(name, number % 2, to: number / 2) }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = ["age", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
        let controller = NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
        let mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        #expect(controller.shown == "0: ada cid | 1: bob dan")
        add("abe", 0, to: 1)
        context.processPendingChanges()
        try context.save()
        #expect(controller.shown == "0: abe ada cid | 1: bob dan" && mirror.takeLog() == ["will", "insert abe - 0.0", "did"])
        request.affectedStores = [stores[1]]
        try controller.performFetch()
        #expect(controller.shown == "0: abe cid | 1: dan")
    }

    @Test
    func `Changes are followed only for a delegate`() throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        controller.delegate = nil
        stack.insert("Person", ["name": "eve", "age": 9])
        stack.context.processPendingChanges()
        #expect(controller.shown == "ada bob cid dan" && mirror.log == [])
        // Missed changes are reported with the next ones.
        controller.delegate = mirror
        #expect(
            told(stack, mirror) { stack.insert("Person", ["name": "fay", "age": 8]) } == ["will", "insert fay - 0.4", "insert eve - 0.5", "did"])
    }

    @Test
    func `A conflict about unique values removes one of two objects`() throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        try person("ada", stack).setValue("a@b.c", forKey: "email")
        try stack.context.save()
        _ = mirror.takeLog()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stack.insert("Person", ["name": "abe", "age": 7, "email": "a@b.c"])
        try stack.context.save()
        stack.context.processPendingChanges()
        #expect(controller.shown == "bob cid dan abe" && mirror.problems == [])
        #expect(mirror.sections == ListMirror.sections(of: controller))
    }

    @Test
    func `Changes made while the delegate is called are reported afterwards`() throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        mirror.during = { line in
            guard line == "insert eve - 0.4" else { return }
            stack.insert("Person", ["name": "fay", "age": 10])
            stack.context.processPendingChanges()
        }
        #expect(
            told(stack, mirror) { stack.insert("Person", ["name": "eve", "age": 9]) }
                == ["will", "insert eve - 0.4", "did", "will", "insert fay - 0.5", "did"])
        #expect(controller.shown == "ada bob cid dan eve fay")
        // A fetch in the middle ends the reports.
        mirror.during = { line in
            guard line == "insert gus - 0.6" else { return }
            controller.fetchRequest.predicate = NSPredicate(format: "age > 8")
            try? controller.performFetch()
        }
        stack.insert("Person", ["name": "gus", "age": 11])
        stack.insert("Person", ["name": "hal", "age": 12])
        stack.context.processPendingChanges()
        #expect(mirror.takeLog() == ["will", "insert gus - 0.6", "did"] && controller.shown == "eve fay gus hal")
    }

    @Test
    func `A fetch that fails in between is tried again`() throws {
        let (stack, controller, mirror) = try followed(sort: ["age", "name"], sections: "group.title")
        #expect(controller.shown == ": ada bob cid dan")
        let law = stack.insert("Group", ["title": "Law"])
        // Sections in pieces: nothing can be shown.
        #expect(try told(stack, mirror) { try person("cid", stack).setValue(law, forKey: "group") } == [])
        #expect(controller.sections?.map(\.numberOfObjects) == [4])
        #expect(throws: (any Error).self) { try controller.performFetch() }
        #expect(
            try told(stack, mirror) { try person("dan", stack).setValue(law, forKey: "group") }
                == ["will", "section insert 1 Law", "move cid 0.2 1.0", "move dan 0.3 1.1", "did"])
        #expect(controller.shown == ": ada bob | Law: cid dan")
    }

    @Test
    func `Longest increasing subsequences are found`() {
        #expect(LongestIncreasingSubsequence.indexes(in: [] as [Int]) == [])
        #expect(LongestIncreasingSubsequence.indexes(in: [3, 1, 2, 5, 4]) == [1, 2, 4])
        #expect(LongestIncreasingSubsequence.indexes(in: [0, 1, 2]) == [0, 1, 2])
        #expect(LongestIncreasingSubsequence.indexes(in: [2, 1, 0]).count == 1)
    }

    @Test(arguments: ["will", "insert eve - 0.4", "did"])
    func `A reset while the delegate is called leaves the reported state`(moment: String) throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        let second = stack.controller(sort: ["-name"]), other = ListMirror()
        second.delegate = other
        try second.performFetch()
        other.start(second)
        mirror.during = { line in
            guard line == moment else { return }
            mirror.during = nil
            stack.context.reset()
        }
        try person("bob", stack).setValue(8, forKey: "age")
        stack.insert("Person", ["name": "eve", "age": 9])
        stack.context.processPendingChanges()
        for (controller, mirror) in [(controller, mirror), (second, other)] {
            #expect(mirror.problems == [] && mirror.sections == ListMirror.sections(of: controller))
            try controller.performFetch()
            #expect(controller.fetchedObjects?.allSatisfy { $0.managedObjectContext === stack.context } == true)
        }
        #expect(controller.shown == "ada bob cid dan" && second.shown == "dan cid bob ada")
    }

    @Test
    func `A save while the delegate is called is followed without pending changes`() throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        let saved = stack.controller { $0.includesPendingChanges = false }, other = ListMirror()
        saved.delegate = other
        try saved.performFetch()
        other.start(saved)
        let reader = stack.newContext()
        stack.insert("Person", ["name": "eve", "age": 9], into: reader)
        let heard = Heard([.NSManagedObjectContextDidSave], of: reader)
        try reader.save()
        other.during = { line in
            guard line == "did" else { return }
            other.during = nil
            stack.insert("Person", ["name": "fay", "age": 10])
            try? stack.context.save()
        }
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(!stack.context.hasChanges && controller.shown == "ada bob cid dan eve fay" && saved.shown == "ada bob cid dan eve fay")
        #expect(other.problems == [] && other.sections == ListMirror.sections(of: saved) && mirror.problems == [])
    }

    @Test
    func `A save while another delegate is called hides no pending change`() throws {
        let (stack, controller, mirror) = try followed(sections: nil)
        let tag = stack.insert("Tag", ["label": "old"]), ada = try person("ada", stack)
        ada.setValue(Set([tag]), forKey: "tags")
        try stack.context.save()
        let tagged = stack.controller("ANY tags.label == 'new'"), other = ListMirror()
        tagged.delegate = other
        try tagged.performFetch()
        other.start(tagged)
        mirror.during = { line in
            if line == "did" { try? stack.context.save() }
        }
        tag.setValue("new", forKey: "label")
        try person("bob", stack).setValue(9, forKey: "age")
        stack.context.processPendingChanges()
        #expect(!stack.context.hasChanges && tagged.shown == "ada" && other.problems == [] && controller.fetchedObjects?.count == 4)
    }
}
