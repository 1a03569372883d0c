import Foundation

/// A store option, a Boolean: whether a store that was made with another version of the coordinator's model is migrated to it when it is added. The
/// migration uses a mapping model in the bundles, or an inferred one if `NSInferMappingModelAutomaticallyOption` is true as well.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// A store option, a Boolean: whether a mapping is inferred from the two versions of the model if there is no mapping model. See
/// `NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:)`.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// A store option, a Boolean: whether a store of another version is opened if it has a column for everything that the model stores. The store keeps
/// its version.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// A store option, a Boolean: whether a store with objects is migrated by an inferred mapping though its model and the coordinator's have no
/// entity in common, so that none of its objects remains. Without it adding such a store throws 134140, since it is probably another program's.
/// A mapping model and the stages of a staged migration need no such option.
public let NSMigratePersistentStoresToUnrelatedModelsOption = "NSMigratePersistentStoresToUnrelatedModelsOption"
/// A store option, an `NSStagedMigrationManager`. It takes precedence over all other migrations.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// The migration options of a store.
package struct MigrationOptions {
    static let all = [
        NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption, NSIgnorePersistentStoreVersioningOption,
        NSPersistentStoreStagedMigrationManagerOptionKey, NSMigratePersistentStoresToUnrelatedModelsOption,
    ]

    let migrates: Bool
    let infers: Bool
    package let acceptsUnrelated: Bool
    let isReadOnly: Bool
    package let staged: NSStagedMigrationManager?

    package init(_ options: [AnyHashable: Any]?) {
        // The past stays what it is.
        let showsPast = NSPersistentStore.showsPast(options)
        migrates = !showsPast && NSPersistentStore.flag(NSMigratePersistentStoresAutomaticallyOption, in: options) ?? false
        infers = NSPersistentStore.flag(NSInferMappingModelAutomaticallyOption, in: options) ?? false
        acceptsUnrelated = NSPersistentStore.flag(NSMigratePersistentStoresToUnrelatedModelsOption, in: options) ?? false
        isReadOnly = showsPast || NSPersistentStore.flag(NSReadOnlyPersistentStoreOption, in: options) ?? false
        staged = showsPast ? nil : options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    }
}

extension NSPersistentStore {
    /// Whether the store is opened without a check of its model's version.
    package final var ignoresVersion: Bool { flag(NSIgnorePersistentStoreVersioningOption) ?? false }
}
