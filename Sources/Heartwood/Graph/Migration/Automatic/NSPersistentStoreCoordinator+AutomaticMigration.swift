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
