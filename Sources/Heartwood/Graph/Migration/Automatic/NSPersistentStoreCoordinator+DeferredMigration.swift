import Foundation

/// A store option, a Boolean: whether a lightweight migration may postpone work. Here it has no effect: a migration of a record log is one step,
/// complete when the store has been added.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredeferredlightweightmigrationoptionkey
public let NSPersistentStoreDeferredLightweightMigrationOptionKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

extension NSPersistentStoreCoordinator {
    /// Finishes the postponed work of lightweight migrations. It has nothing to do: a store is migrated completely when it is added, with all
    /// options.
    /// - Throws: nothing.
    /// - Complexity: O(1).
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/finishdeferredlightweightmigration()
    public final func finishDeferredLightweightMigration() throws {}

    /// Finishes one postponed task of lightweight migrations. It has nothing to do, see `finishDeferredLightweightMigration()`.
    /// - Throws: nothing.
    /// - Complexity: O(1).
    public final func finishDeferredLightweightMigrationTask() throws {}
}
