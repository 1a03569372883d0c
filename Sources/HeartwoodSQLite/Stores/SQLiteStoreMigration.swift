import Foundation
import Heartwood
import RecordLog

/// The migration of a store to a new SQLite file in Core Data's layout. The file has a new identity.
struct SQLiteStoreMigration {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let url: URL

    /// - Parameter new: the store that will be loaded from the file.
    func write(for new: SQLiteStore) throws -> MovedObjects {
        let identifier = UUID().uuidString
        if let log = store.logOfRows {
            let export = SQLiteStoreExport(store, of: coordinator, .coreData(version: nil))
            let rows = try export.write(log, identifier: identifier, to: url).rows
            return .renumbered(rows.view) { table, reference in
                new.schema?.table(of: table.runtime.entity).map { RowReference(table: $0.id, row: UInt64(rows.keys.key(reference))) }
            }
        }
        // The objects of a store that answers requests are copied.
        let folder = try MigrationFolder.claimed(besides: url.appendingPathExtension("objects"))
        defer { folder.abandon() }
        return .copies(try writeCopies(identifier, at: folder.file))
    }

    /// Copies the objects into a record log, and writes that.
    private func writeCopies(_ identifier: String, at file: URL) throws -> [ObjectCopy.Pair] {
        let target = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        let unopened = RecordLogStore(persistentStoreCoordinator: target, configurationName: store.configuration, at: file)
        let copies = try StoreMigration(coordinator: coordinator, store: store, url: file, options: nil, type: NSRecordLogStoreType)
            .write(to: unopened)
        let made = try target.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: store.configuration, at: file)
        defer { try? target.remove(made) }
        guard let log = made.logOfRows else { preconditionFailure("a record log has rows") }
        let rows = try SQLiteStoreExport(made, of: target, .coreData(version: nil)).write(log, identifier: identifier, to: url).rows
        return copies.compactMap { old, new in
            // The copies were made under another coordinator's entities.
            guard let table = rows.view.schema.tables.first(where: { $0?.runtime.entity.name == new.entity.name }) ?? nil else { return nil }
            let key = rows.keys.key(RowReference(table: table.id, row: new.key.row))
            return (old, NSManagedObjectID(entity: new.entity, key: ObjectKey(rawValue: UInt64(key)), store: made, contextToken: 0))
        }
    }
}
