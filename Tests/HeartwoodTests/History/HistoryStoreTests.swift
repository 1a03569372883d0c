import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A history through operations on its store: options, other handles, copies, compaction, other types of stores.
@Suite struct HistoryStoreTests {
    private func path() -> URL { FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString).heartwood") }

    @Test
    func `A store with a history goes on recording, whichever program opens it`() throws {
        let url = path()
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try TestStack.tracking(.recordLog, at: url)
        first.insert("Person", ["name": "A"])
        try first.context.save()
        let token = first.token
        for option in [nil, NSNumber(value: false)] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            let store = try coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: option.map { [NSPersistentHistoryTrackingKey: $0] })
            #expect(!store.isReadOnly)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            try context.save()
            try coordinator.remove(store)
        }
        #expect(try first.changes(after: token) == ["insert Person 2", "insert Person 3"])
    }

    @Test
    func `A store gets a history later and loses it by deletion`() throws {
        let url = path()
        defer { try? FileManager.default.removeItem(at: url) }
        func open(_ option: Bool?) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            try coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: nil, at: url,
                options: option.map { [NSPersistentHistoryTrackingKey: NSNumber(value: $0)] })
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return (coordinator, context)
        }
        func insert(_ context: NSManagedObjectContext) throws {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            try context.save()
        }
        func close(_ coordinator: NSPersistentStoreCoordinator) throws {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        var (coordinator, context) = try open(nil)
        try insert(context)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        try close(coordinator)
        (coordinator, context) = try open(true)
        let begin = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try insert(context)
        func count(_ token: NSPersistentHistoryToken?) throws -> Int? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.resultType = .count
            return (try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int
        }
        #expect(try count(begin) == 1)
        try close(coordinator)
        // It is not empty, so it stays.
        (coordinator, context) = try open(false)
        #expect(try count(begin) == 1)
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        try close(coordinator)
        (coordinator, context) = try open(false)
        try insert(context)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        try close(coordinator)
        // A new history, to which the old tokens do not belong.
        (coordinator, context) = try open(true)
        try insert(context)
        #expect(try count(nil) == 1)
        let error = #expect(throws: NSError.self) { try count(begin) }
        #expect(error?.code == NSPersistentHistoryTokenExpiredError)
        try close(coordinator)
    }

    @Test
    func `A handle that tracks history starts it again after another has ended it`() throws {
        let url = path()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try TestStack.tracking(.recordLog, at: url)
        let other = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try other.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: false])
        #expect(other.currentPersistentHistoryToken(fromStores: nil) == nil)
        try other.remove(store)
        stack.insert("Person", ["name": "A"])
        try stack.context.save()
        #expect(try stack.changes() == ["insert Person 1"])
    }

    @Test
    func `A read-only store shows its history and keeps it`() throws {
        let url = path()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try TestStack.tracking(.recordLog, at: url)
        writer.insert("Person", ["name": "A"])
        try writer.context.save()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func found() throws -> [NSPersistentHistoryTransaction]? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            return (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
        }
        #expect(try found()?.count == 1)
        // Commits of others appear at once.
        writer.insert("Person", ["name": "B"])
        try writer.context.save()
        #expect(try found()?.count == 2 && coordinator.currentPersistentHistoryToken(fromStores: nil) == writer.token)
        let error = #expect(throws: NSError.self) { try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date())) }
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        try coordinator.remove(store)
    }

    @Test
    func `A history survives compaction and opening`() throws {
        let url = path()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try TestStack.tracking(.recordLog, at: url)
        for number in 0..<20 {
            stack.insert("Person", ["name": "\(number)"])
            try stack.context.save()
        }
        let token = try stack.transactions()[4].token
        _ = try stack.ask(.deleteHistory(before: stack.transactions()[3].timestamp))
        let known = try stack.changes(after: token)
        let kept = try stack.transactions()
        _ = try stack.store.log!.compact()
        #expect(try stack.changes(after: token) == known && stack.transactions() == kept)
        // Transactions that were read before are in the old file.
        #expect(kept.flatMap { $0.changes ?? [] }.count == 17)
        let second = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try second.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url)
        #expect(second.currentPersistentHistoryToken(fromStores: nil) == stack.token)
        try second.remove(store)
        stack.insert("Person", ["name": "last"])
        try stack.context.save()
        #expect(try stack.transactions().last?.transactionNumber == 21)
    }

    @Test
    func `A copy has the history under its own identity`() throws {
        let urls = [path(), path()]
        defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
        let stack = try TestStack.tracking(.recordLog, at: urls[0])
        stack.insert("Person", ["name": "A"])
        try stack.context.save()
        let token = stack.token
        let old = stack.persistentStore.identifier
        let copy = try stack.coordinator.migratePersistentStore(
            stack.persistentStore, to: urls[1], options: [NSPersistentHistoryTrackingKey: true], withType: NSRecordLogStoreType)
        #expect(copy.identifier != old)
        let found = try stack.transactions()
        #expect(found.map(\.storeID) == [copy.identifier] && found[0].changes?[0].changedObjectID.persistentStore === copy)
        #expect(try stack.fetch("Person").map(\.objectID) == found[0].changes?.map(\.changedObjectID))
        // Objects have other IDs there.
        let error = #expect(throws: NSError.self) { try stack.transactions(after: token) }
        #expect(error?.code == NSPersistentHistoryTokenExpiredError)
    }

    /// Transactions that a salvage could not bring out are missing from the history; a client that has not seen them gets an error.
    @Test
    func `A token from before a loss has expired`() throws {
        let urls = [path(), path()]
        defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
        let model = TestStack.model()
        (model.entitiesByName["Tag"]?.propertiesByName["label"] as? NSAttributeDescription)?.preservesValueInHistoryOnDeletion = true
        let stack = try TestStack.tracking(.recordLog, model: model, at: urls[0])
        try stack.insertBatch((0..<3000).map { ["label": "tag number \($0)"] }, into: "Tag")
        let early = stack.token
        _ = try stack.deleteBatch("Tag")
        let middle = stack.token
        stack.insert("Person", ["name": "A"])
        try stack.context.save()
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        // The deleted rows have the text as well; the last occurrence is the history's.
        var bytes = try Data(contentsOf: urls[0])
        let range = try #require(bytes.range(of: Data("tag number 1500".utf8), options: .backwards))
        bytes[range.lowerBound] ^= 1
        try bytes.write(to: urls[0])
        let report = try StoreSalvage.salvage(path: urls[0].path, to: urls[1].path, options: StoredModel.options)
        #expect(!report.isComplete)
        let new = try TestStack.tracking(.recordLog, model: model, at: urls[1])
        #expect(try new.transactions(after: middle).map(\.transactionNumber) == [3])
        let expired = #expect(throws: NSError.self) { try new.transactions(after: early) }
        #expect(expired?.code == NSPersistentHistoryTokenExpiredError)
        let damaged = #expect(throws: NSError.self) { try new.transactions() }
        #expect(damaged?.code == NSPersistentStoreOperationError)
        #expect((try new.ask(.fetchHistory(after: Date.distantPast), .transactionsOnly) as? [NSPersistentHistoryTransaction])?.count == 3)
        _ = try new.ask(.deleteHistory(before: middle))
        _ = try new.ask(.deleteHistory(before: try new.transactions(after: middle)[0]))
        #expect(try new.transactions().map(\.transactionNumber) == [3])
    }

    @Test(arguments: StoreKind.allCases.filter { !StoreKind.recording.contains($0) })
    func `Stores of other types ignore the option`(_ kind: StoreKind) throws {
        let stack = try TestStack(kind, options: [NSPersistentHistoryTrackingKey: true])
        stack.insert("Person", ["name": "A"])
        try stack.context.save()
        #expect(stack.token == nil)
        let error = #expect(throws: NSError.self) { try stack.transactions() }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test
    func `A remote change notification has the newest token`() async throws {
        let url = path()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try TestStack.tracking(.recordLog, at: url, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let writer = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try writer.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = writer
        let heard = Heard([.NSPersistentStoreRemoteChange], of: stack.coordinator)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        try context.save()
        let expected = try #require(writer.currentPersistentHistoryToken(fromStores: nil))
        #expect(await heard.wait { $0.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken == expected })
        #expect(heard.all.last?.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken == expected)
        try writer.remove(store)
    }

    /// Whatever is left of the file after its writer died, a transaction exists with its rows or not at all.
    @Test
    func `A cut-off file has rows and history of one commit`() throws {
        let url = path(), copy = path()
        defer { for each in [url, copy] { try? FileManager.default.removeItem(at: each) } }
        let stack = try TestStack.tracking(.recordLog, at: url)
        let log = try #require(stack.store.log)
        let frames = log.statistics.framesAppended, sequence = log.snapshot().sequence
        for number in 0..<12 {
            stack.insert("Person", ["name": String(repeating: "n", count: number * 20)])
            try stack.context.save()
        }
        // One commit each, and one frame.
        #expect(log.snapshot().sequence == sequence + 12 && log.statistics.framesAppended == frames + 12)
        let bytes = try Data(contentsOf: url)
        var counts: Set<Int> = []
        // Zeroes are written ahead of the log.
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 64
        for length in stride(from: end, to: 8192, by: -48) {
            try bytes.prefix(length).write(to: copy)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            guard let store = try? coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: nil, at: copy, options: [NSReadOnlyPersistentStoreOption: true])
            else { continue }
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)) as? NSPersistentHistoryResult
            let told = try #require(result?.result as? [NSPersistentHistoryTransaction]).flatMap { $0.changes ?? [] }
            #expect(Set(told.map(\.changedObjectID)) == Set(people.map(\.objectID)) && told.count == people.count)
            counts.insert(people.count)
            try coordinator.remove(store)
        }
        #expect(counts.count == 13, "\(counts.sorted())")
    }

    @Test
    func `A salvaged history has the deletions of lost rows`() throws {
        let urls = [path(), path()]
        defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
        let stack = try TestStack.tracking(.recordLog, at: urls[0])
        let people = (0..<5).map { stack.insert("Person", ["name": "\($0)"]) }
        try stack.context.save()
        let token = stack.token
        for person in people[2...] { stack.context.delete(person) }
        try stack.context.save()
        _ = try stack.store.log!.compact()
        let words = try stack.changes()
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        #expect(try StoreSalvage.salvage(path: urls[0].path, to: urls[1].path, options: StoredModel.options).isComplete)
        let new = try TestStack.tracking(.recordLog, at: urls[1])
        #expect(try new.changes() == words && new.changes(after: token).count == 3)
        // A new object does not get the ID of one in the history.
        new.insert("Person", ["name": "new"])
        try new.context.save()
        #expect(try new.changes().last == "insert Person 6")
    }
}
