import Foundation
import RecordLog

/// The IDs of a migrated store's objects, the old and the new one of each in turn.
///
/// Whoever hears of a migration seldom asks, and the rows of a record log are copied without an ID being made: they are listed when
/// somebody asks first, as the new store was after the migration.
final class MigratedIDs: NSArray {
    /// Set before anybody else has the array.
    private var source: Source?
    private lazy var list = source?.list() ?? []

    /// Stores whose rows have the same numbers.
    private struct Source {
        let old: NSPersistentStore
        let new: NSPersistentStore
        let view: RecordLogView

        /// What lies behind damaged bytes is left out: the store's reading tells of it.
        func list() -> [NSManagedObjectID] {
            var list: [NSManagedObjectID] = []
            for table in view.schema.tables {
                guard let table else { continue }
                try? view.snapshot.scan(table.id) { row in
                    for store in [old, new] {
                        let key = ObjectKey(rawValue: row.reference.rawValue &+ store.slotBase)
                        list.append(NSManagedObjectID(entity: table.runtime.entity, key: key, store: store, contextToken: 0))
                    }
                    return true
                }
            }
            return list
        }
    }

    /// - Parameters:
    ///   - copies: as `NSPersistentStoreCoordinator.attach` has them.
    ///   - new: loaded.
    static func of(
        _ copies: [ObjectCopy.Pair]?, from old: NSPersistentStore, to new: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator
    ) -> NSArray {
        if let copies {
            // The copies were made under another coordinator's keys.
            var list: [NSManagedObjectID] = []
            for copy in copies {
                guard let key = coordinator.key(of: copy.new, in: new) else { continue }
                list += [copy.old, NSManagedObjectID(entity: copy.old.entity, key: key, store: new, contextToken: 0)]
            }
            return NSArray(array: list)
        }
        let ids = MigratedIDs()
        if let view = try? new.newestView() as? RecordLogView { ids.source = Source(old: old, new: new, view: view) }
        return ids
    }

    override var count: Int { list.count }
    override func object(at index: Int) -> Any { list[index] }
}
