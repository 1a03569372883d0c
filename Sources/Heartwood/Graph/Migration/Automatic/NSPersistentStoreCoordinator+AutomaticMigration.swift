import Foundation

extension NSPersistentStoreCoordinator {
    /// Migrates a store to the coordinator's model, if its options ask for that. Returns whether adding it must be retried.
    /// - Parameter error: the error of adding it.
    /// - Throws: the error of the migration.
    final func migrate(_ store: MigrationEnd, after error: any Error) throws -> Bool {
        let options = MigrationOptions(store.options)
        guard CoreDataError.isCode(NSPersistentStoreIncompatibleVersionHashError, error), options.staged != nil || options.migrates,
            let migrator = try? StoreMigrator(store), migrator.storeClass.isMigratedWhenAdded
        else { return false }
        if let staged = options.staged {
            try StagedMigration(manager: staged, migrator: migrator, model: managedObjectModel).run()
        } else {
            try migrator.migrate(to: managedObjectModel, isAutomatic: true, infers: options.infers)
        }
        return true
    }
}

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
