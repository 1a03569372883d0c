import Foundation

extension NSPersistentStoreCoordinator {
    /// Whether a store was brought to the coordinator's model, so that adding it has to be tried again.
    /// - Parameter error: why it was not added.
    /// - Throws: why it was not migrated.
    final func migrate(_ store: MigrationEnd, after error: any Error) throws -> Bool {
        let options = MigrationOptions(store.options)
        guard CoreDataError.isCode(NSPersistentStoreIncompatibleVersionHashError, error), options.staged != nil || options.migrates,
            let migrator = try? StoreMigrator(store), !(migrator.storeClass is NSIncrementalStore.Type)
        else { return false }
        if let staged = options.staged {
            try StagedMigration(manager: staged, migrator: migrator, model: managedObjectModel).run()
        } else {
            try migrator.migrate(to: managedObjectModel, isAutomatic: true, infers: options.infers)
        }
        return true
    }
}
