import Foundation

/// The versions of a model in their order, and how a store goes from one to the next. Hand it over in a store's options, under
/// `NSPersistentStoreStagedMigrationManagerOptionKey`.
///
/// A store goes from whichever version it has through all that come behind it, one after the other: by an inferred mapping each, and where a
/// custom stage stands between two, with its handlers. The coordinator's model is the last one, whether a stage names it or not. A version whose
/// model is not found (in a custom stage's reference, or in the bundles) is left out.
///
/// Each step is whole once it is done; after a crash, or an error, the store has the version that it came to, and goes on from there when it is
/// added next.
/// Source: https://developer.apple.com/documentation/coredata/nsstagedmigrationmanager
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    // Unchecked: the container is set by the thread that migrates, which calls the handlers that use it.

    open private(set) var stages: [NSMigrationStage]
    /// The store that is being migrated, in a custom stage's handlers; nil elsewhere.
    open internal(set) var container: NSPersistentContainer?

    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
