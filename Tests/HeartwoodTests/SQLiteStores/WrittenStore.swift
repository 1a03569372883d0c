import Foundation
import Testing

@testable import Heartwood

/// A store of Core Data's that is migrated to a record log and from there to a new SQLite file.
struct WrittenStore {
    let original: ExpectedObjects

    init(_ original: ExpectedObjects) { self.original = original }

    /// Whether a value's external file is missing. A migration through objects ends there.
    var lacksFiles: Bool {
        original.lines.contains { line in
            (line["attributes"] as? [String: Any] ?? [:]).values.contains { ($0 as? [String: Any])?["missing"] != nil }
        }
    }

    /// Compares the objects, by this project's reader, and the tables, by SQLite.
    /// - Parameters:
    ///   - source: the model's, for a store without a cache.
    ///   - problems: the lines of the script that name a difference that may not be, of a store's name.
    func check(source: URL? = nil, _ problems: ([String], String) -> [String]) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("Written.sqlite")
            let (ids, model) = try write(to: file, source: source)
            let written = ExpectedObjects(name: original.name + " written", file: file, lines: try renamed(ids, file))
            let count = try written.check(model: model)
            #expect(count == original.lines.count - 1)
            let text = try CoreDataStoreFiles.run([CoreDataStoreFiles.script("compare_written.py"), original.file.path, file.path])
            for line in problems(text.split(separator: "\n").dropLast().map(String.init), original.name) {
                Issue.record("\(original.name): \(line)")
            }
        }
    }

    /// - Returns: the new objects by the old ones, as "Entity/key", and the store's model.
    func write(to file: URL, source: URL?) throws -> (ids: [String: String], model: NSManagedObjectModel) {
        let (context, opened) = try original.open(source: source)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let log = file.deletingLastPathComponent().appendingPathComponent("Converted.heartwood")
        let first = try MigratedObjects.of(coordinator) {
            try coordinator.migratePersistentStore(opened, to: log, options: [NSRecordLogDurabilityOption: "none"], type: .recordLog)
        }
        let second = try MigratedObjects.of(coordinator) {
            try coordinator.migratePersistentStore(try #require(coordinator.persistentStores.first), to: file, type: .sqlite)
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return (first.compactMapValues { second[$0] }, coordinator.managedObjectModel)
    }

    /// The expected lines with the new objects' names.
    private func renamed(_ ids: [String: String], _ file: URL) throws -> [[String: Any]] {
        var first = original.lines[0]
        first["uuid"] = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file)[NSStoreUUIDKey]
        let lines = try original.lines.dropFirst().map { line in
            var line = line
            let entity = try #require(line["entity"] as? String), key = try #require(line["pk"] as? Int)
            let name = try #require(ids["\(entity)/\(key)"], "\(original.name) \(entity)/\(key)")
            line["pk"] = Int(name.split(separator: "/")[1])
            let members = line["relationships"] as? [String: Any] ?? [:]
            line["relationships"] = try members.mapValues { value in
                try (value as? [String] ?? []).map { try #require(ids[$0], "\(original.name) \($0)") }
            }
            return line
        }
        return [first] + lines
    }
}

/// The objects of a migration's notification.
enum MigratedObjects {
    /// - Returns: the new objects by the old ones, as "Entity/key".
    static func of(_ coordinator: NSPersistentStoreCoordinator, _ body: () throws -> Void) throws -> [String: String] {
        final class Box: @unchecked Sendable { var list: [NSManagedObjectID] = [] }
        let box = Box()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { notification in
            guard let change = notification.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any], change.count == 3 else { return }
            box.list = (change[2] as? NSArray)?.compactMap { $0 as? NSManagedObjectID } ?? []
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
        func name(_ id: NSManagedObjectID) -> String { "\(id.entity.name ?? "")/\(id.key.row)" }
        return Dictionary(
            stride(from: 0, to: box.list.count, by: 2).map { (name(box.list[$0]), name(box.list[$0 + 1])) }) { first, _ in first }
    }
}
