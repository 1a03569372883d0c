import Foundation

/// A part of a staged migration: `NSLightweightMigrationStage` or `NSCustomMigrationStage`.
/// Source: https://developer.apple.com/documentation/coredata/nsmigrationstage
open class NSMigrationStage: NSObject {
    /// A description of the stage; errors contain it.
    open var label: String! = ""

    override init() {
        super.init()
    }

    /// The checksums of the versions that the stage names, in order.
    var checksums: [String] { [] }
}

/// Consecutive versions of a model. An inferred mapping leads from each to the next.
/// Source: https://developer.apple.com/documentation/coredata/nslightweightmigrationstage
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The versions in order, by `NSManagedObjectModel.versionChecksum`.
    open private(set) var versionChecksums: [String]

    /// - Precondition: no version is named twice.
    public init(_ versionChecksums: [String]) {
        demand(Set(versionChecksums).count == versionChecksums.count, "Duplicate version checksums detected.")
        self.versionChecksums = versionChecksums
        super.init()
    }

    override var checksums: [String] { versionChecksums }
}

/// The step from one version of a model to the next, with code before and after it. That code makes an inferred mapping possible, or completes it.
/// Source: https://developer.apple.com/documentation/coredata/nscustommigrationstage
open class NSCustomMigrationStage: NSMigrationStage {
    open private(set) var currentModel: NSManagedObjectModelReference
    open private(set) var nextModel: NSManagedObjectModelReference
    /// Called before the store is migrated; `container` of the manager has it open with the current model.
    public final var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called after the store was migrated; `container` of the manager has it open with the next model. If it threw or the process ended before it
    /// returned, it is called again when the store is next added.
    public final var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// - Precondition: the two versions differ.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
        demand(
            currentModel.versionChecksum != nextModel.versionChecksum, "The current model reference and the next model reference cannot be equal.")
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }

    override var checksums: [String] { [currentModel.versionChecksum, nextModel.versionChecksum] }
}
