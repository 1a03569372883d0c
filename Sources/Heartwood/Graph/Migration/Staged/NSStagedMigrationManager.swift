import Foundation

/// The versions of a model in their order, and the stages between them. Set it in a store's options, under
/// `NSPersistentStoreStagedMigrationManagerOptionKey`.
///
/// A store is migrated from its version through all later ones, one after the other: each by an inferred mapping, and with the handlers of a custom
/// stage if one leads there. The coordinator's model is the last version, even if no stage names it. A version whose model is not found (in a
/// custom stage's reference, or in the bundles) is left out.
///
/// Each step is atomic. After a crash or an error the store has the version that it reached, and the migration goes on from there when the store is
/// next added.
/// Source: https://developer.apple.com/documentation/coredata/nsstagedmigrationmanager
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    // Unchecked: the migrating thread sets the container and calls the handlers that use it.

    open private(set) var stages: [NSMigrationStage]
    /// The store under migration, in a custom stage's handlers; nil elsewhere.
    open internal(set) var container: NSPersistentContainer?

    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
