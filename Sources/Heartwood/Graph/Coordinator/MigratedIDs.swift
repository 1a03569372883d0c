import Foundation
import RecordLog

/// The IDs of a migrated store's objects: for each object the old ID, then the new one.
///
/// Observers of a migration seldom read the list, and the rows of a record log are copied without making IDs. So the list is made at its
/// first use, from the new store's state after the migration.
final class MigratedIDs: NSArray {
    /// Set before the array is shared.
    private var source: Source?
    private lazy var list = source?.list() ?? []

    private struct Source {
        let old: NSPersistentStore
        let new: NSPersistentStore
        let view: RecordLogView
        /// Of the new store, for a row of the view. The default is for rows with equal numbers.
        var newReference: (EntityTable, RowReference) -> RowReference? = { $1 }

        /// Leaves out rows behind damaged bytes; reading the store reports the damage.
        func list() -> [NSManagedObjectID] {
            var list: [NSManagedObjectID] = []
            for table in view.schema.tables {
                guard let table else { continue }
                try? view.snapshot.scan(table.id) { row in
                    guard let reference = newReference(table, row.reference) else { return true }
                    for (store, reference) in [(old, row.reference), (new, reference)] {
                        let key = ObjectKey(rawValue: reference.rawValue &+ store.slotBase)
                        list.append(NSManagedObjectID(entity: table.runtime.entity, key: key, store: store, contextToken: 0))
                    }
                    return true
                }
            }
            return list
        }
    }

    /// - Parameters:
    ///   - moved: as in `NSPersistentStoreCoordinator.attach`.
    ///   - new: a loaded store.
    static func of(
        _ moved: MovedObjects, from old: NSPersistentStore, to new: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator
    ) -> NSArray {
        let ids = MigratedIDs()
        switch moved {
        case .copies(let copies):
            // The copies were made under another coordinator's keys.
            var list: [NSManagedObjectID] = []
            for copy in copies {
                guard let key = coordinator.key(of: copy.new, in: new) else { continue }
                list += [copy.old, NSManagedObjectID(entity: copy.old.entity, key: key, store: new, contextToken: 0)]
            }
            return NSArray(array: list)
        case .sameRows:
            if let view = try? new.rows?.newestLogView() { ids.source = Source(old: old, new: new, view: view) }
        case .renumbered(let view, let newReference): ids.source = Source(old: old, new: new, view: view, newReference: newReference)
        }
        return ids
    }

    override var count: Int { list.count }
    override func object(at index: Int) -> Any { list[index] }
}
