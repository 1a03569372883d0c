import Foundation

/// In a store's options: whether a lightweight migration may leave work for later. A Boolean; here a migration of a record log is one step, which
/// is done when the store has been added, and nothing is ever left.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredeferredlightweightmigrationoptionkey
public let NSPersistentStoreDeferredLightweightMigrationOptionKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

extension NSPersistentStoreCoordinator {
    /// Finishes what lightweight migrations have left for later. There is never anything: a store has been migrated whole when it has been added,
    /// whatever its options say of it.
    /// - Throws: nothing.
    /// - Complexity: O(1).
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/finishdeferredlightweightmigration()
    public final func finishDeferredLightweightMigration() throws {}

    /// Finishes one part of what lightweight migrations have left for later. There is never any, as `finishDeferredLightweightMigration()` says.
    /// - Throws: nothing.
    /// - Complexity: O(1).
    public final func finishDeferredLightweightMigrationTask() throws {}
}
