import Foundation
import Heartwood
import HeartwoodOutsideStore
import Testing

/// A store over a server of tables: clients that connect to one URL share its rows. HeartwoodTests runs the behaviour tests over it; these tests are
/// about several clients of one database.
@Suite struct ServerStoreTests {
    /// A client of a database: a coordinator with its store, and a context.
    private struct Client {
        let store: NSPersistentStore
        let coordinator: NSPersistentStoreCoordinator
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)

        init(_ url: URL, _ model: NSManagedObjectModel = ForestModel.made, options: [AnyHashable: Any]? = nil) throws {
            NSPersistentStoreCoordinator.registerStoreClass(ServerStore.self, forStoreType: ServerStore.storeType)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            store = try coordinator.addPersistentStore(ofType: ServerStore.storeType, configurationName: nil, at: url, options: options)
            context.persistentStoreCoordinator = coordinator
        }

        @discardableResult
        func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (name, value) in values { object.setValue(value, forKey: name) }
            return object
        }

        func fetch(_ entity: String = "Tree", _ format: String? = nil) throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = entity == "Tree" ? [NSSortDescriptor(key: "name", ascending: true)] : nil
            return try context.fetch(request)
        }

        func names(_ format: String? = nil) throws -> [String] { try fetch("Tree", format).map { $0.value(forKey: "name") as? String ?? "-" } }
    }

    private let url = URL(string: "server://forest/\(UUID().uuidString)")!

    private func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    @Test
    func `Rows and relationships that one client saves are another one's, under the same URIs`() throws {
        let one = try Client(url), other = try Client(url)
        let wood = one.insert("Wood", ["title": "North"]), oak = one.insert("Tree", ["name": "Oak", "wood": wood])
        let birds = ["Jay", "Owl", "Tit"].map { one.insert("Bird", ["name": $0]) }
        oak.setValue(NSOrderedSet(array: [birds[2], birds[0]]), forKey: "birds")
        one.insert("Tree", ["name": "Yew", "wood": wood, "birds": NSOrderedSet(array: birds)])
        #expect(try other.names() == [])
        try one.context.save()
        #expect(try other.names("wood.title == 'North'") == ["Oak", "Yew"])
        let id = try #require(other.coordinator.managedObjectID(forURIRepresentation: oak.objectID.uriRepresentation()))
        let found = try other.context.existingObject(with: id)
        #expect((found.value(forKey: "birds") as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["Tit", "Jay"])
        let jay = try #require(try other.fetch("Bird", "name == 'Jay'").first)
        #expect((jay.value(forKey: "trees") as? Set<NSManagedObject>)?.count == 2)
        other.context.delete(found)
        try other.context.save()
        #expect(try one.names() == ["Yew"])
        #expect(try one.fetch("Bird", "trees.@count == 0").isEmpty)
    }

    @Test
    func `A save finds the version of another client, and the merge policy decides`() throws {
        let one = try Client(url), other = try Client(url)
        one.insert("Tree", ["name": "Oak", "age": 1])
        try one.context.save()
        let own = try #require(try one.fetch().first), theirs = try #require(try other.fetch().first)
        own.setValue(2, forKey: "age")
        theirs.setValue(3, forKey: "age")
        theirs.setValue("Elm", forKey: "name")
        try other.context.save()
        #expect(code { try one.context.save() } == NSManagedObjectMergeError)
        one.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try one.context.save()
        #expect(own.value(forKey: "age") as? Int == 2 && own.value(forKey: "name") as? String == "Elm")
    }

    @Test
    func `A unique value of another client is a conflict, and a policy merges into its row`() throws {
        let one = try Client(url), other = try Client(url)
        one.insert("Wood", ["title": "North", "size": 1])
        try one.context.save()
        let id = other.insert("Wood", ["title": "North", "size": 2]).objectID
        #expect(code { try other.context.save() } == NSManagedObjectConstraintMergeError)
        other.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try other.context.save()
        #expect(try one.fetch("Wood").map { $0.value(forKey: "size") as? Int } == [2])
        #expect(id.isTemporaryID || other.context.registeredObject(for: id) == nil)
    }

    @Test
    func `A context that is pinned reads on in its state, while other clients save`() throws {
        let one = try Client(url), other = try Client(url)
        one.insert("Tree", ["name": "Oak"])
        try one.context.save()
        try other.context.setQueryGenerationFrom(.current)
        #expect(try other.names() == ["Oak"])
        try one.fetch().forEach { $0.setValue("Elm", forKey: "name") }
        one.insert("Tree", ["name": "Yew"])
        try one.context.save()
        #expect(try other.names() == ["Oak"])
        try other.context.setQueryGenerationFrom(nil)
        other.context.refreshAllObjects()
        #expect(try other.names() == ["Elm", "Yew"])
    }

    @Test
    func `An ID that a client has reserved is the row's, and no other client gets it`() throws {
        let one = try Client(url), other = try Client(url)
        let early = one.insert("Tree", ["name": "Oak"])
        try one.context.obtainPermanentIDs(for: [early])
        let id = early.objectID
        let later = other.insert("Tree", ["name": "Yew"])
        try other.context.save()
        try one.context.save()
        #expect(!id.isTemporaryID && early.objectID == id && id.uriRepresentation() != later.objectID.uriRepresentation())
        #expect(try other.names() == ["Oak", "Yew"])
    }

    @Test
    func `The database keeps the metadata, and refuses another version of the model and a client that may not write`() throws {
        let one = try Client(url)
        one.store.metadata = one.store.metadata.merging(["owner": "Ada"]) { $1 }
        try one.context.save()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: ServerStore.storeType, at: url)
        #expect(metadata["owner"] as? String == "Ada" && metadata[NSStoreUUIDKey] as? String == one.store.identifier)
        #expect(code { _ = try Client(url, ForestModel.later) } == NSPersistentStoreIncompatibleVersionHashError)
        let reader = try Client(url, options: [NSReadOnlyPersistentStoreOption: true])
        reader.insert("Tree")
        #expect(code { try reader.context.save() } == CocoaError.Code.fileWriteNoPermission.rawValue)
        try one.coordinator.destroyPersistentStore(at: url, ofType: ServerStore.storeType)
        #expect(code { _ = try Client(url, options: [NSReadOnlyPersistentStoreOption: true]) } == CocoaError.Code.fileReadNoSuchFile.rawValue)
    }

    @Test
    func `A model with derived attributes is refused with the error of the seam`() throws {
        #expect(code { _ = try Client(url, ForestModel.derived) } == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test
    func `The history tells one client of another's transactions, and is deleted up to a token`() throws {
        let one = try Client(url, options: [NSPersistentHistoryTrackingKey: true]), other = try Client(url)
        one.context.transactionAuthor = "Ada"
        let oak = one.insert("Tree", ["name": "Oak"])
        try one.context.save()
        oak.setValue(300, forKey: "age")
        try one.context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try #require(try other.context.execute(request) as? NSPersistentHistoryResult)
        let transactions = try #require(result.result as? [NSPersistentHistoryTransaction])
        #expect(transactions.map(\.author) == ["Ada", "Ada"])
        #expect(transactions.last?.changes?.first?.updatedProperties?.map(\.name) == ["age"])
        let token = try #require(transactions.first?.token)
        _ = try other.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        let later = try #require(try one.context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token)) as? NSPersistentHistoryResult)
        #expect((later.result as? [NSPersistentHistoryTransaction])?.count == 1)
    }

    @Test
    func `Batch requests insert, update and delete rows, and a unique value is a violation`() throws {
        let one = try Client(url), other = try Client(url)
        _ = try one.context.execute(NSBatchInsertRequest(entityName: "Wood", objects: [["title": "North", "size": 1], ["title": "South", "size": 2]]))
        #expect(try other.fetch("Wood").count == 2)
        #expect(code { _ = try other.context.execute(NSBatchInsertRequest(entityName: "Wood", objects: [["title": "North"]])) }
            == NSManagedObjectConstraintMergeError)
        let update = NSBatchUpdateRequest(entityName: "Wood")
        update.predicate = NSPredicate(format: "size > 1")
        update.propertiesToUpdate = ["size": NSExpression(format: "size * 10")]
        _ = try other.context.execute(update)
        #expect(try one.fetch("Wood", "size == 20").count == 1)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Wood")
        request.predicate = NSPredicate(format: "title == 'North'")
        _ = try one.context.execute(NSBatchDeleteRequest(fetchRequest: request))
        #expect(try other.fetch("Wood").map { $0.value(forKey: "title") as? String } == ["South"])
    }

    @Test
    func `A client hears of the commits of others, and of its own`() async throws {
        let one = try Client(url), other = try Client(url, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: other.coordinator, queue: nil) { _ in continuation.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        one.insert("Tree", ["name": "Oak"])
        try one.context.save()
        for await _ in heard.prefix(1) {}
        #expect(try other.names() == ["Oak"])
    }
}
