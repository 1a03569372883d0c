import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

/// Whole stores go into a database and out of it.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct TransferTests {
    /// A record log in a temporary file.
    private final class Log {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-transfer-\(UUID().uuidString).heartwood")
        let coordinator: NSPersistentStoreCoordinator

        init(_ model: NSManagedObjectModel = TransferModel.make(), fill: (NSManagedObjectContext) throws -> Void = { try TransferModel.fill($0) }) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try fill(context)
        }

        var store: NSPersistentStore { coordinator.persistentStores[0] }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            try? FileManager.default.removeItem(at: url)
        }
    }

    /// A model whose entities are all roots, so that each object keeps its number.
    private static func flatModel() -> NSManagedObjectModel {
        let model = TransferModel.make()
        model.entitiesByName["Item"]?.subentities = []
        model.entities.removeAll { $0.name == "Special" }
        return model
    }

    private static func opened(_ url: URL, _ type: String, _ model: NSManagedObjectModel) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        return coordinator
    }

    private static func fillFlat(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("tag", forKey: "name")
            for number in 0..<10 {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValuesForKeys(["text": "item \(number)", "tags": NSOrderedSet(object: tag)])
            }
            try context.save()
        }
    }

    @Test
    func `A record log goes into a database and out again with the same objects, relationships, orders and values`() throws {
        let model = TransferModel.make(), log = try Log(model), url = try ServerStack.newURL(), transfer = try StoreTransfer(url)
        let before = try StoreContents(log.coordinator, ids: false)
        let loaded = try transfer.load(log.store, of: log.coordinator)
        let stack = try ServerStack(model, at: url)
        #expect(loaded.objects == 45 && loaded.pairs == 100)
        #expect(loaded.renumbered == ["Item"], "Item p1 and Special p1 cannot be in one table")
        let inside = try StoreContents(stack.coordinator)
        #expect(try StoreContents(stack.coordinator, ids: false) == before)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-transfer-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let dumped = try transfer.dump(to: file)
        #expect(dumped.objects == loaded.objects && dumped.pairs == loaded.pairs && dumped.isSound, "\(dumped)")
        let again = try Self.opened(file, NSRecordLogStoreType, model)
        #expect(try StoreContents(again) == inside)
        #expect(again.persistentStores[0].identifier == log.store.identifier)
        #expect(stack.coordinator.persistentStores[0].identifier == log.store.identifier)
        for store in again.persistentStores { try again.remove(store) }
    }

    @Test
    func `Objects of entities without a hierarchy keep their URIs, and new objects get new numbers`() throws {
        let model = Self.flatModel(), log = try Log(model, fill: Self.fillFlat), url = try ServerStack.newURL()
        let loaded = try StoreTransfer(url).load(log.store, of: log.coordinator)
        #expect(loaded.renumbered.isEmpty)
        let stack = try ServerStack(model, at: url), before = try StoreContents(log.coordinator)
        #expect(try StoreContents(stack.coordinator) == before)
        try stack.context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: stack.context)
            item.setValue("new", forKey: "text")
            try stack.context.save()
            let name = item.objectID.uriRepresentation().lastPathComponent
            #expect(before.objects["Item/\(name)"] == nil, "\(name) is the number of no object of the log")
        }
    }

    @Test
    func `migratePersistentStore copies rows into a database and out of it, and tells the new IDs`() throws {
        let model = TransferModel.make(), log = try Log(model), url = try ServerStack.newURL()
        let before = try StoreContents(log.coordinator, ids: false)
        let inside = try log.coordinator.migratePersistentStore(log.store, to: url, withType: NSPostgreSQLStoreType)
        #expect(inside.type == NSPostgreSQLStoreType)
        #expect(try StoreContents(log.coordinator, ids: false) == before)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-transfer-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let named = try StoreContents(log.coordinator)
        let outside = try log.coordinator.migratePersistentStore(inside, to: file, withType: NSRecordLogStoreType)
        #expect(outside.type == NSRecordLogStoreType && outside.identifier != inside.identifier)
        #expect(try StoreContents(log.coordinator) == named)
        try NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
    }

    @Test
    func `A conversion that is cut off leaves nothing, and the next one succeeds`() throws {
        let socket = try #require(try PostgreSQLTestServer.shared.get().socketFolder)
        let log = try Log(), proxy = try PostgreSQLProxy(to: socket), url = try ServerStack.newURL(socketFolder: proxy.folder)
        let messages = try proxy.count { _ = try StoreTransfer(try ServerStack.newURL(socketFolder: proxy.folder)).load(log.store, of: log.coordinator) }
        let schema = StoreAddress(url).schema
        // The answer to the last message may be lost when all is done.
        for count in stride(from: 1, to: messages.toServer.count - 2, by: 7) {
            for action in [PostgreSQLProxy.Fault.Action.cut, .cutInside] {
                proxy.setFault(.init(action, after: count, .toServer))
                let error = #expect(throws: NSError.self) { try StoreTransfer(url).load(log.store, of: log.coordinator) }
                #expect(error?.domain == NSCocoaErrorDomain, "\(count): \(String(describing: error))")
                #expect(error?.localizedDescription.contains("?") != false)
                proxy.setFault(nil)
                let found = try connection().execute("SELECT nspname::text FROM pg_namespace")
                #expect(try !(0..<found.count).contains { try found.text($0, 0) == schema }, "after \(count) messages")
            }
        }
        #expect(try StoreTransfer(url).load(log.store, of: log.coordinator).objects == 45)
        try NSPersistentStoreCoordinator(managedObjectModel: TransferModel.make()).destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
    }

    private func connection() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(PostgreSQLConfiguration(try PostgreSQLTestServer.shared.get().connectionString))
    }

    @Test(arguments: [("double", Double.nan), ("text", "a\0b")] as [(String, any Sendable)])
    func `A value that the server cannot have is named, and nothing is converted`(_ key: String, _ value: any Sendable) throws {
        let log = try Log { context in
            try context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(value, forKey: key)
                try context.save()
            }
        }
        let url = try ServerStack.newURL()
        let error = #expect(throws: NSError.self) { try StoreTransfer(url).load(log.store, of: log.coordinator) }
        #expect(error?.code == NSManagedObjectValidationError && error?.localizedDescription.contains("Item p1.\(key)") == true, "\(String(describing: error))")
        #expect(try StoreTransfer(url).storedModel() == nil)
    }

    @Test
    func `A schema that has a store or other tables is left as it is`() throws {
        let log = try Log(), url = try ServerStack.newURL(), transfer = try StoreTransfer(url)
        _ = try transfer.load(log.store, of: log.coordinator)
        let stack = try ServerStack(TransferModel.make(), at: url), before = try StoreContents(stack.coordinator)
        let taken = #expect(throws: NSError.self) { try transfer.load(log.store, of: log.coordinator) }
        #expect(taken?.code == NSPersistentStoreOperationError)
        #expect(try StoreContents(stack.coordinator) == before)
        let other = try ServerStack.newURL()
        try stack.sql("CREATE SCHEMA \"\(StoreAddress(other).schema)\"")
        try stack.sql("CREATE TABLE \"\(StoreAddress(other).schema)\".others (a int)")
        let refused = #expect(throws: NSError.self) { try StoreTransfer(other).load(log.store, of: log.coordinator) }
        #expect(refused?.code == NSPersistentStoreIncompatibleSchemaError)
        #expect(throws: NSError.self) { try StoreTransfer(other).dump(to: log.url.appendingPathExtension("new")) }
        try stack.sql("DROP SCHEMA \"\(StoreAddress(other).schema)\" CASCADE")
    }

    @Test
    func `Large data goes both ways in pieces`() throws {
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }), model = Self.flatModel()
        let log = try Log(model) { context in
            try context.performAndWait {
                for size in [0, 1, 4_000, 70_000, 3_000_000] {
                    NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(large.prefix(size), forKey: "large")
                }
                try context.save()
            }
        }
        let url = try ServerStack.newURL(), transfer = try StoreTransfer(url)
        _ = try transfer.load(log.store, of: log.coordinator)
        let stack = try ServerStack(model, at: url), before = try StoreContents(log.coordinator)
        #expect(try StoreContents(stack.coordinator) == before)
        let file = log.url.appendingPathExtension("out")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try transfer.dump(to: file)
        let again = try Self.opened(file, NSRecordLogStoreType, model)
        #expect(try StoreContents(again) == before)
        for store in again.persistentStores { try again.remove(store) }
    }
}
