import Foundation
import Testing

@testable import Heartwood

@Suite struct ResultsCostTests {
    private static let count = 100_000

    private func large() throws -> TestStack {
        let stack = try TestStack(.inMemory)
        var rows: [[String: Any]] = []
        for number in 0..<Self.count { rows.append(["name": "n\(100_000 + number)", "age": number % 26]) }
        try stack.context.execute(NSBatchInsertRequest(entityName: "Person", objects: rows))
        return stack
    }

    @Test
    func `A large list in batches makes no objects and reads each row once`() throws {
        let stack = try large()
        let controller = stack.controller(sort: ["age", "name"], sections: "age") { $0.fetchBatchSize = 20 }, mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        #expect(controller.sections?.count == 26 && controller.sections?.reduce(0) { $0 + $1.numberOfObjects } == Self.count)
        #expect(stack.context.identities.count == 0)
        // The memory of a result: its key, and the order's values.
        #expect(MemoryLayout<ResultsList.Entry>.stride == 16 && MemoryLayout<PredicateValue>.stride == 24)
        #expect(stack.context.lastQuery.rowsVisited <= Self.count && !stack.context.queries.lastQueryWasInMemory)

        // The first requested object reads one batch.
        var reads = stack.rowReads
        let first = controller.object(at: IndexPath(row: 0, section: 3))
        #expect(first.name == "n100003" && first.isFault == false)
        #expect(stack.context.identities.count <= 20 && stack.rowReads - reads <= 20)
        reads = stack.rowReads
        #expect(controller.object(at: IndexPath(row: 1, section: 3)).name == "n100029")
        #expect(stack.rowReads == reads)

        // A change costs only the changed object.
        stack.context.lastQuery = QueryStatistics()
        reads = stack.rowReads
        first.age = 25
        stack.context.processPendingChanges()
        #expect(mirror.takeLog() == ["will", "move n100003 3.0 25.0", "did"] && mirror.problems == [])
        let eve = stack.insert("Person", ["name": "n2", "age": 12])
        stack.context.processPendingChanges()
        #expect(mirror.takeLog() == ["will", "insert n2 - 12.\(Self.count / 26)", "did"])
        stack.context.delete(eve)
        stack.context.processPendingChanges()
        try stack.context.save()
        #expect(stack.context.lastQuery == QueryStatistics())
        #expect(stack.rowReads - reads <= 4)
        #expect(stack.context.identities.count <= 21)

        // A merge of one object reads that one.
        let other = stack.newContext()
        stack.context.automaticallyMergesChangesFromParent = true
        _ = mirror.takeLog()
        try withExtendedLifetime(other) {
            let object = other.object(with: controller.list.entries[50_000].key.id(in: stack.context))
            object.setValue(0, forKey: "age")
            try other.save()
        }
        #expect(mirror.changes == 4 && mirror.problems == [] && mirror.takeLog().count == 3)
        #expect(stack.context.lastQuery == QueryStatistics() && stack.context.identities.count <= 22)

        // A deleted object that this context does not know is reported as deleted, and leaves nothing behind.
        let known = stack.context.identities.count, path = ListMirror.text(controller.list.indexPath(of: 70_000))
        try withExtendedLifetime(other) {
            other.delete(other.object(with: controller.list.entries[70_000].key.id(in: stack.context)))
            try other.save()
        }
        #expect(mirror.takeLog() == ["will", "delete ? \(path) -", "did"] && mirror.problems == [])
        #expect(stack.context.identities.count == known && !stack.context.hasChanges)
    }

    @Test
    func `Many merged objects are one query and no objects`() throws {
        let stack = try large()
        let controller = stack.controller("age < 3", sort: ["age", "name"], sections: "age") { $0.fetchBatchSize = 20 }, mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        let request = NSBatchInsertRequest(
            entityName: "Person", objects: (0..<1000).map { ["name": "m\($0)", "age": $0 % 26] as [String: Any] })
        request.resultType = .objectIDs
        let result = try stack.context.execute(request) as? NSBatchInsertResult
        let ids = try #require(result?.result as? [NSManagedObjectID])
        stack.context.lastQuery = QueryStatistics()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectIDsKey: ids], into: [stack.context])
        #expect(mirror.sections == ListMirror.sections(of: controller) && mirror.problems == [])
        #expect(stack.context.lastQuery.rowsMatched == controller.list.count && !stack.context.queries.lastQueryWasInMemory)
        // The mirror asks each reported object for its name. Objects that another test in this process may observe are made too.
        let registered = stack.context.identities.count
        #expect(mirror.changes == 117 && (registered <= 117 || ContextNotification.didChange.isNamed), "\(registered) registered")
    }

    @Test
    func `Nothing is collected for a context without followers`() throws {
        let stack = try TestStack(.inMemory)
        let controller = stack.controller(), mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        let other = stack.newContext()
        withExtendedLifetime(other) {
            stack.insert("Person", ["name": "ada"], into: other)
            #expect(!other.isTracked && (other.events.isEmpty || NotificationNames.areAsked))
        }
    }

    @Test
    func `Section names that objects compute come from the cache the second time`() throws {
        let model = TestStack.model()
        model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(InitialedPerson.self)
        let stack = try TestStack(.inMemory, model: model)
        for number in 0..<500 { stack.insert("Person", ["name": "\(number / 100)-\(number)"]) }
        try stack.context.save()
        func rowsRead(_ cache: String?) throws -> Int {
            let request = NSFetchRequest<InitialedPerson>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchBatchSize = 10
            request.includesSubentities = false
            let context = stack.anew()
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: cache)
            try controller.performFetch()
            #expect(controller.sections?.map(\.numberOfObjects) == [100, 100, 100, 100, 100])
            return context.identities.count
        }
        let name = UUID().uuidString
        #expect(try rowsRead(name) == 500)
        #expect(try rowsRead(name) == 0)
        #expect(try rowsRead(nil) == 500)
        NSFetchedResultsController<InitialedPerson>.deleteCache(withName: name)
        #expect(try rowsRead(name) == 500)
    }
}

/// Whether a test has used the name of the change notification, which makes all contexts collect changes.
private enum NotificationNames {
    static var areAsked: Bool { ContextNotification.didChange.isNamed }
}

extension ObjectKey {
    fileprivate func id(in context: NSManagedObjectContext) -> NSManagedObjectID { context.objectID(for: self) }
}
