import Foundation
import Heartwood
import RecordLog
import Testing

/// A replica under the stack: contexts see what the follower takes up, as they see commits of other processes.
@Suite struct ReplicaContextTests {
    private static func coordinator(_ url: URL, _ options: [String: Any]) throws -> NSPersistentStoreCoordinator {
        let item = NSEntityDescription(), name = NSAttributeDescription(), model = NSManagedObjectModel()
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
        (item.name, item.properties) = ("Item", [name])
        model.entities = [item]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .recordLog, at: url, options: options)
        return coordinator
    }

    private static func insert(_ name: String, _ coordinator: NSPersistentStoreCoordinator) throws -> NSManagedObjectID {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            object.setValue(name, forKey: "name")
            try context.save()
            return object.objectID
        }
    }

    private static func names(_ context: NSManagedObjectContext) throws -> Set<String> {
        try context.performAndWait {
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            return Set(found.compactMap { $0.value(forKey: "name") as? String })
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `Contexts over a replica see each commit, with a remote-change notification, and saves are refused`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("replica-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("store.heartwood"), copy = folder.appendingPathComponent("copy.heartwood")
        let source = try Self.coordinator(store, [:]), first = try Self.insert("first", source)
        let destination = DirectoryDestination(path: folder.appendingPathComponent("backups").path)
        let backup = StoreBackup(of: store.path, to: destination), replica = StoreReplica(from: destination, at: copy.path)
        try await backup.run()
        try await replica.update()
        let reader = try Self.coordinator(
            copy, [NSReadOnlyPersistentStoreOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = reader
        #expect(try Self.names(context) == ["first"])
        let (changes, heard) = AsyncStream<Void>.makeStream()
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: reader, queue: nil) { _ in
            heard.yield()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        _ = try Self.insert("second", source)
        try await backup.run()
        try await replica.update()
        for await _ in changes { break }
        #expect(try Self.names(context) == ["first", "second"])
        // The identity is the store's: an object ID of the one names the object of the other.
        #expect(reader.managedObjectID(forURIRepresentation: first.uriRepresentation()) != nil)
        #expect(throws: (any Error).self) { _ = try Self.insert("third", reader) }
        #expect(throws: (any Error).self) { _ = try Self.coordinator(copy, [:]) }
    }
}
