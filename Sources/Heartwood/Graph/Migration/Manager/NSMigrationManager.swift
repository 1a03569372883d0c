import Foundation
import Synchronization

/// Migrates a store from one version of its model to another by a mapping model, object by object.
///
/// It uses two stacks, one for the source and one for the destination. Their objects are plain `NSManagedObject`s, regardless of the classes that
/// their entities name: no code of these classes runs, and values are read and set by key. Objects of the destination are saved in portions as they
/// are made, and associations are stored as keys: memory grows by about 150 bytes for each object of the source, independent of its size.
///
/// Use a manager on one thread; `migrationProgress` and `cancelMigrationWithError(_:)` may be used on others meanwhile.
/// Source: https://developer.apple.com/documentation/coredata/nsmigrationmanager
open class NSMigrationManager: NSObject, @unchecked Sendable {
    // Unchecked: state for other threads is in `shared`; only the migrating thread uses the rest.

    open private(set) var sourceModel: NSManagedObjectModel
    open private(set) var destinationModel: NSManagedObjectModel
    /// The mapping model of the migration.
    /// - Precondition: a migration has begun. This applies to the following properties too, during a migration.
    open var mappingModel: NSMappingModel { present(ownMappingModel, "mapping model") }
    /// The context that reads the source.
    open var sourceContext: NSManagedObjectContext { present(reader, "source context") }
    /// The context that writes the destination.
    open var destinationContext: NSManagedObjectContext { present(writer, "destination context") }
    /// The mapping that is being carried out.
    open var currentEntityMapping: NSEntityMapping { present(currentMapping, "entity mapping") }
    final var ownMappingModel: NSMappingModel!
    final var reader: NSManagedObjectContext!
    final var writer: NSManagedObjectContext!
    final var currentMapping: NSEntityMapping!
    /// Applied to the objects that the mapping leaves out; nil where the source's store stays, and loses nothing.
    final var dropping: DroppingRule?
    /// The objects that the mapping leaves out, if there is a rule for them.
    final var dropped: DroppedObjects?
    /// Data for policies.
    open var userInfo: [AnyHashable: Any]?
    /// Whether a store type may carry out an inferred mapping itself, between stores of that type. A record log changes its schema in a copy of the
    /// file: objects keep their IDs, and no policy is called. The default is true. For types that cannot do this it has no effect.
    open var usesStoreSpecificMigrationManager = true

    /// One step for each entity mapping, during a migration.
    final var steps: [MigrationStep] = []
    /// By slot: the steps that read an entity of the source, and those of the destination's entities.
    final var stepsBySlot: [UInt16: [MigrationStep]] = [:]
    /// Associated objects with a temporary key in the associations.
    final var unsaved: [(step: MigrationStep, key: ObjectKey, object: NSManagedObject)] = []
    /// The number of changed objects that causes a save; tests lower it.
    final var portion = 4_096
    /// The number of changed objects that causes the next save.
    final var nextSaveAt = 0

    private struct Shared: @unchecked Sendable {
        // Unchecked: errors are immutable.
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    private let shared = Mutex(Shared())

    /// - Parameters:
    ///   - sourceModel: the model of the store to migrate. Both models become immutable.
    ///   - destinationModel: the model of the store that a migration makes.
    ///   - fileID: names the module in which policies are looked up that a mapping names without a module.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        sourceModel.makeImmutable()
        destinationModel.makeImmutable()
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    /// The initializer that a subclass overrides; calls prefer the other one.
    @_disfavoredOverload
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        sourceModel.makeImmutable()
        destinationModel.makeImmutable()
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    private func present<Part>(_ part: Part?, _ name: StaticString) -> Part {
        guard let part else { misuse("The manager has no \(name): no migration is under way.") }
        return part
    }

    /// The progress of the migration from 0 to 1, by passes, mappings and objects.
    open var migrationProgress: Float {
        get { shared.withLock { $0.progress } }
    }

    final func setProgress(_ progress: Float) { shared.withLock { $0.progress = progress } }

    /// Cancels the present migration, or the next one: it throws `error`, and the destination stays as it was. Call it on any thread; the migration
    /// checks it before each object. A `CancellationError` becomes 134120.
    open func cancelMigrationWithError(_ error: any Error) { shared.withLock { $0.cancellation = error } }

    final func checkCancellation() throws {
        guard let error = shared.withLock({ $0.cancellation }) else { return }
        guard error is CancellationError else { throw error }
        throw CoreDataError.make(NSMigrationCancelledError, "The migration was cancelled; the destination is as it was.")
    }

    /// Discards the last migration, but not `userInfo`. The manager can then carry out another one between the same models.
    open func reset() {
        endMigrating()
        ownMappingModel = nil
        shared.withLock { $0 = Shared() }
    }

    /// Releases the state of one migration.
    final func endMigrating() {
        steps = []
        stepsBySlot = [:]
        unsaved = []
        nextSaveAt = 0
        currentMapping = nil
        reader = nil
        writer = nil
        shared.withLock { $0.cancellation = nil }
    }

    final func beginMigrating(_ mapping: NSMappingModel) {
        mapping.complete(from: sourceModel, to: destinationModel)
        ownMappingModel = mapping
        shared.withLock { $0.progress = 0 }
    }

    /// The source's entity of a mapping; nil if it names none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The destination's entity of a mapping; nil if it names none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    // MARK: Associations

    /// Records that an object of the destination was made from one of the source, by a mapping. One source object may have several destination
    /// objects, and the reverse.
    /// - Precondition: a migration is running, and the objects belong to its contexts.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject, for entityMapping: NSEntityMapping
    ) { note(destinationInstance, madeOf: sourceInstance, by: entityMapping) }

    /// The objects that a mapping has made from objects of the source, in their order.
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - sourceInstances: nil for all objects from which the mapping has made others.
    open func destinationInstances(forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        made(byMappingNamed: mappingName, of: sourceInstances)
    }

    /// The objects of the source from which a mapping has made objects of the destination, in their order.
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - destinationInstances: nil for all objects that the mapping has made.
    open func sourceInstances(forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        origins(byMappingNamed: mappingName, of: destinationInstances)
    }

    /// Evaluates a FUNCTION that a value expression calls on `$manager`, if this class does not know its name.
    /// - Parameters:
    ///   - selector: the name in the expression, such as `"custom:"`.
    ///   - arguments: the values of its arguments: numbers as `NSNumber`, objects, collections as arrays.
    /// - Returns: the value. An override calls `super` for names that it does not know.
    /// - Throws: by default 134110, since it knows no other function.
    open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataError.make(
            NSMigrationError,
            "\(Swift.type(of: self)) does not implement the function \"\(selector)\" of a value expression; override value(ofFunction:arguments:).")
    }

    // MARK: Migrating

    /// Migrates a store to another file. If no store exists at `dURL`, one is made. If one exists, its objects stay and the source's are added, so
    /// that a large store can be migrated in several passes with one mapping model each.
    ///
    /// A new destination gets the source's metadata, its identifier included. It is written beside its URL and moved there when it is complete: an
    /// error or a crash leaves the former state. The source is only read.
    /// - Throws: 134140 without a mapping model; 134150 and 134160 if the source or the destination cannot be opened or written; 134170 if a
    ///   policy's class is not found; 134110, with a `reason`, if the mapping model does not match the models, or a value its property; 134111 if
    ///   objects violate a uniqueness constraint of the new model; the model's validation errors of the new objects (1550 to 1690, 1560 for
    ///   several); the errors of policies, and the error of a cancellation.
    /// - Complexity: O(objects).
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil, with mappings: NSMappingModel?,
        toDestinationURL dURL: URL, destinationType dStoreType: String, destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CoreDataError.make(
                NSMigrationMissingMappingModelError, "The store at \(sourceURL.path) was not migrated: there is no mapping model.",
                ["reason": "Can't find mapping model for migration"])
        }
        let source = MigrationEnd(url: sourceURL, type: sStoreType, options: sOptions)
        let destination = MigrationEnd(url: dURL, type: dStoreType, options: dOptions)
        try migrate(from: source, to: destination, by: mappings)
    }

    /// The same with the modern spelling.
    open func migrateStore(
        from sourceURL: URL, type sStoreType: NSPersistentStore.StoreType, options sOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type dStoreType: NSPersistentStore.StoreType,
        options dOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sStoreType.rawValue, options: sOptions, with: mapping, toDestinationURL: destinationURL,
            destinationType: dStoreType.rawValue, destinationOptions: dOptions)
    }
}

/// One of the two stores of a migration.
package struct MigrationEnd {
    package let url: URL
    let type: String
    package let options: [AnyHashable: Any]?
    package var configuration: String?
}
