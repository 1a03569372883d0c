import Foundation
import RecordLog

/// A store whose contents can move to another store, or come from one, without objects between.
package protocol TransferStore: NSPersistentStore {
    /// Writes the contents of another store to this one, which is not loaded yet.
    /// - Returns: nil where this store cannot take them; nothing has happened then.
    func takeContents(of source: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator) throws -> MovedObjects?

    /// Writes this store's contents to another one, which is not loaded yet.
    /// - Parameter url: of the other store.
    /// - Returns: nil where this store cannot; nothing has happened then.
    func giveContents(to target: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator) throws -> MovedObjects?
}

extension TransferStore {
    package func takeContents(of source: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator) throws -> MovedObjects? { nil }

    package func giveContents(
        to target: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator
    ) throws -> MovedObjects? { nil }
}

/// The objects of a store whose contents went to another one.
package enum MovedObjects {
    /// The rows of both stores have equal numbers.
    case sameRows
    /// The objects were copied.
    case copies([ObjectCopy.Pair])
    /// Rows of the old store, with the row of the new one for each; nil for one that is not there. Asked once the new store is loaded.
    case renumbered(RecordLogView, (EntityTable, RowReference) -> RowReference?)
}
