import Foundation

/// Whether a store that was made with another version of the coordinator's model is brought to that version when it is added: a Boolean. By a
/// mapping model in the bundles, or one that is inferred where `NSInferMappingModelAutomaticallyOption` says so too.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether the mapping follows from the two versions of the model where there is no mapping model: a Boolean.
/// `NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:)` says what can be inferred.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Whether a store is opened though its version is another, if it has a place for all that the model wants to store: a Boolean. The store's
/// version stays what it is.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// An `NSStagedMigrationManager`, which goes before every other way of migration.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// What options say of migration.
struct MigrationOptions {
    static let all = [
        NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption, NSIgnorePersistentStoreVersioningOption,
        NSPersistentStoreStagedMigrationManagerOptionKey,
    ]

    let migrates: Bool
    let infers: Bool
    let isReadOnly: Bool
    let staged: NSStagedMigrationManager?

    init(_ options: [AnyHashable: Any]?) {
        migrates = NSPersistentStore.flag(NSMigratePersistentStoresAutomaticallyOption, in: options) ?? false
        infers = NSPersistentStore.flag(NSInferMappingModelAutomaticallyOption, in: options) ?? false
        isReadOnly = NSPersistentStore.flag(NSReadOnlyPersistentStoreOption, in: options) ?? false
        staged = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    }
}

extension NSPersistentStore {
    /// Whether the version of the model with which the store was made is not asked.
    final var ignoresVersion: Bool { flag(NSIgnorePersistentStoreVersioningOption) ?? false }
}
