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

    /// Loads through a proxy that breaks the connection.
    private static func breakOff(_ log: Log, _ url: URL, _ proxy: PostgreSQLProxy, _ fault: PostgreSQLProxy.Fault) throws {
        proxy.setFault(fault)
        let error = #expect(throws: NSError.self) { try StoreTransfer(url).load(log.store, of: log.coordinator) }
        #expect(error?.domain == NSCocoaErrorDomain, "\(fault): \(String(describing: error))")
        #expect(error?.localizedDescription.contains("?") != false)
        proxy.setFault(nil)
    }

    private static func destroy(_ url: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: TransferModel.make()).destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
    }

    /// The messages that end a COPY into a table.
    private static func copies(_ count: PostgreSQLProxy.Count) -> Int { count.toServer.count { $0 == "c" } }

    @Test
    func `A conversion that is cut off goes on behind the tables that are done, and makes the same store`() throws {
        let log = try Log(), proxy = try PostgreSQLProxy(to: try #require(try PostgreSQLTestServer.shared.get().socketFolder))
        let whole = try ServerStack.newURL(socketFolder: proxy.folder)
        let messages = try proxy.count { _ = try StoreTransfer(whole).load(log.store, of: log.coordinator) }
        let expected = try StoreContents(Self.opened(whole, NSPostgreSQLStoreType, TransferModel.make()))
        try Self.destroy(whole)
        var least = Self.copies(messages)
        #expect(least > 3)
        // The answer to the last message may be lost when all is done.
        for count in stride(from: 1, to: messages.toServer.count - 2, by: 13) {
            for action in [PostgreSQLProxy.Fault.Action.cut, .cutInside] {
                let url = try ServerStack.newURL(socketFolder: proxy.folder)
                try Self.breakOff(log, url, proxy, .init(action, after: count, .toServer))
                #expect(try StoreTransfer(url).storedModel() == nil, "there is no store before the end")
                var objects = 0, last = 0
                let rest = try proxy.count {
                    objects = try StoreTransfer(url).load(log.store, of: log.coordinator) { done, _ in last = max(last, done) }.objects
                }
                #expect(objects == 45 && last <= 45, "after \(count) messages")
                let copies = Self.copies(rest)
                #expect(copies <= least, "after \(count) messages")
                least = copies
                #expect(try StoreContents(Self.opened(url, NSPostgreSQLStoreType, TransferModel.make())) == expected, "after \(count) messages")
                try Self.destroy(url)
            }
        }
        #expect(least == 0, "a conversion that was cut off at its end sends no row again")
    }

    @Test
    func `A conversion of another commit, of a copy with a commit of that number, or with another model begins anew`() throws {
        let proxy = try PostgreSQLProxy(to: try #require(try PostgreSQLTestServer.shared.get().socketFolder))
        func insert(_ text: String, into log: Log) throws {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = log.coordinator
            try context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(text, forKey: "text")
                try context.save()
            }
        }
        let log = try Log(), url = try ServerStack.newURL(socketFolder: proxy.folder)
        let messages = try proxy.count {
            let other = try ServerStack.newURL(socketFolder: proxy.folder)
            _ = try StoreTransfer(other).load(log.store, of: log.coordinator)
            try Self.destroy(other)
        }
        func breakOff() throws { try Self.breakOff(log, url, proxy, .init(.cut, after: messages.toServer.count * 3 / 5, .toServer)) }
        let twin = try Log(Self.flatModel()) { _ in }
        try breakOff()
        try insert("later", into: log)
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-transfer-\(UUID().uuidString).heartwood")
        defer { try? FileManager.default.removeItem(at: copy) }
        try FileManager.default.copyItem(at: log.url, to: copy)
        #expect(try StoreTransfer(url).load(log.store, of: log.coordinator).objects == 46)
        try Self.destroy(url)

        // Both have a further commit of one number.
        let other = try Self.opened(copy, NSRecordLogStoreType, TransferModel.make()), context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = other
        try context.performAndWait {
            for item in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) { item.setValue("changed", forKey: "text") }
            try context.save()
        }
        try insert("last", into: log)
        try breakOff()
        #expect(try StoreTransfer(url).load(other.persistentStores[0], of: other).objects == 46)
        let found = try StoreContents(Self.opened(url, NSPostgreSQLStoreType, TransferModel.make()), ids: false)
        #expect(found == (try StoreContents(other, ids: false)))
        try Self.destroy(url)

        try breakOff()
        #expect(try StoreTransfer(url).load(twin.store, of: twin.coordinator).objects == 0)
        try NSPersistentStoreCoordinator(managedObjectModel: Self.flatModel()).destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
    }

    @Test
    func `What a conversion that was cut off has left is no store, says what to do, and can be destroyed`() throws {
        let log = try Log(), proxy = try PostgreSQLProxy(to: try #require(try PostgreSQLTestServer.shared.get().socketFolder))
        let url = try ServerStack.newURL(socketFolder: proxy.folder)
        let messages = try proxy.count { _ = try StoreTransfer(url).load(log.store, of: log.coordinator) }
        try Self.destroy(url)
        try Self.breakOff(log, url, proxy, .init(.cut, after: messages.toServer.count / 2, .toServer))
        let error = #expect(throws: NSError.self) { try Self.opened(url, NSPostgreSQLStoreType, TransferModel.make()) }
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError && error?.localizedDescription.contains("Run it again") == true)
        try Self.destroy(url)
        #expect(try !isThere(url))
    }

    @Test
    func `Two conversions into one schema take turns, and the second finds a store`() async throws {
        let log = try Log(), url = try ServerStack.newURL()
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask { [store = log.store, coordinator = log.coordinator] in (try? StoreTransfer(url).load(store, of: coordinator)) != nil }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(outcomes.filter(\.self).count == 1)
        #expect(try StoreContents(Self.opened(url, NSPostgreSQLStoreType, TransferModel.make())).objects.count == 45)
        try Self.destroy(url)
    }

    private func isThere(_ url: URL) throws -> Bool {
        let found = try connection().execute("SELECT nspname::text FROM pg_namespace"), schema = StoreAddress(url).schema
        return try (0..<found.count).contains { try found.text($0, 0) == schema }
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
        #expect(try !isThere(url))
        // A schema that was there stays.
        let schema = "\"\(StoreAddress(url).schema)\""
        try connection().execute(PostgreSQLStatement("CREATE SCHEMA \(schema)", isPrepared: false))
        #expect(throws: NSError.self) { try StoreTransfer(url).load(log.store, of: log.coordinator) }
        #expect(try connection().execute(PostgreSQLStatement("DROP SCHEMA \(schema)", isPrepared: false)).commandTag == "DROP SCHEMA")
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
