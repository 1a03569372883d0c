import Foundation
import Synchronization

/// Migrates a store from one version of its model to another by a mapping model, object by object.
///
/// There are two stacks, one for the source and one for the destination, whose objects are of `NSManagedObject` itself, whatever classes their
/// entities name: code of these classes does not run, and values are read and set by key. Objects of the destination are saved in portions
/// as they are made, and what was made of what is kept as keys: memory grows by some 100 bytes for an object of the source, whatever its size.
///
/// A manager is for one thread; `migrationProgress` and `cancelMigrationWithError(_:)` may be used on others meanwhile.
/// Source: https://developer.apple.com/documentation/coredata/nsmigrationmanager
open class NSMigrationManager: NSObject, @unchecked Sendable {
    // Unchecked: what other threads may ask lies in `shared`; the rest is the migrating thread's.

    open private(set) var sourceModel: NSManagedObjectModel
    open private(set) var destinationModel: NSManagedObjectModel
    /// The mapping model of the migration.
    /// - Precondition: there was one. The same holds for what follows, while a migration is under way.
    open var mappingModel: NSMappingModel { present(ownMappingModel, "mapping model") }
    /// Reads the source.
    open var sourceContext: NSManagedObjectContext { present(reader, "source context") }
    /// Writes the destination.
    open var destinationContext: NSManagedObjectContext { present(writer, "destination context") }
    /// What is being gone through.
    open var currentEntityMapping: NSEntityMapping { present(currentMapping, "entity mapping") }
    final var ownMappingModel: NSMappingModel!
    final var reader: NSManagedObjectContext!
    final var writer: NSManagedObjectContext!
    final var currentMapping: NSEntityMapping!
    /// Whatever policies want to know.
    open var userInfo: [AnyHashable: Any]?
    /// Whether a mapping that was inferred, between stores of one type, may be carried out as that type does by itself: for a record log its
    /// schema is changed in a copy of the file, objects keep their IDs, and no policy is asked. The default is true; where the type has no such
    /// way it makes no difference.
    open var usesStoreSpecificMigrationManager = true

    /// One for each entity mapping while a migration is under way.
    final var steps: [MigrationStep] = []
    /// By the high bits of keys: the steps that ask an entity of the source, and the entities of the destination.
    final var stepsBySlot: [UInt16: [MigrationStep]] = [:]
    /// Associated objects that have temporary keys as far as associations know.
    final var unsaved: [(step: MigrationStep, key: ObjectKey, object: NSManagedObject)] = []
    /// How many changed objects are held before they are saved; tests lower it.
    final var portion = 4_096
    /// How many it takes for the next save.
    final var nextSaveAt = 0
    /// The most objects that the two contexts have held at a time; tests assert on it.
    final var registeredMax = 0

    private struct Shared: @unchecked Sendable {
        // Unchecked: errors are immutable.
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    private let shared = Mutex(Shared())

    /// - Parameters:
    ///   - sourceModel: that of the store to be migrated. Both models are fixed from now on.
    ///   - fileID: tells in which module policies may be found that a mapping names without one.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        sourceModel.freeze()
        destinationModel.freeze()
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    /// The initializer that a subclass overrides; elsewhere the other one is called.
    @_disfavoredOverload
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        sourceModel.freeze()
        destinationModel.freeze()
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    private func present<Part>(_ part: Part?, _ name: StaticString) -> Part {
        guard let part else { preconditionFailure("The manager has no \(name): no migration is under way.") }
        return part
    }

    /// From 0 to 1: how far the migration is, counted by passes, mappings and objects.
    open var migrationProgress: Float {
        get { shared.withLock { $0.progress } }
    }

    final func setProgress(_ progress: Float) { shared.withLock { $0.progress = progress } }

    /// Ends the migration that is under way, or the next one: it throws `error`, and the destination is as it was before. From any thread; the
    /// migration heeds it before the next object. A `CancellationError` comes as 134120.
    open func cancelMigrationWithError(_ error: any Error) { shared.withLock { $0.cancellation = error } }

    final func checkCancellation() throws {
        guard let error = shared.withLock({ $0.cancellation }) else { return }
        guard error is CancellationError else { throw error }
        throw CoreDataError.make(NSMigrationCancelledError, "The migration was cancelled; the destination is as it was.")
    }

    /// Forgets the last migration, but `userInfo`: the manager can carry out another one between the same models.
    open func reset() {
        endMigrating()
        ownMappingModel = nil
        shared.withLock { $0 = Shared() }
    }

    /// Lets go of all that belongs to one migration.
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
        registeredMax = 0
        shared.withLock { $0.progress = 0 }
    }

    /// The entity that a mapping asks of the source; nil where it names none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The entity that a mapping makes objects of; nil where it names none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    // MARK: What was made of what

    /// States that an object of the destination was made of one of the source, by a mapping. Of an object of the source several may be made, and
    /// one of several.
    /// - Precondition: a migration is under way, and the objects are of its contexts.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject, for entityMapping: NSEntityMapping
    ) { note(destinationInstance, madeOf: sourceInstance, by: entityMapping) }

    /// What was made of objects of the source by a mapping, in their order.
    /// - Parameter sourceInstances: nil: all for which the mapping has made something.
    open func destinationInstances(forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        made(byMappingNamed: mappingName, of: sourceInstances)
    }

    /// Of what objects of the destination were made by a mapping, in their order.
    /// - Parameter destinationInstances: nil: all that the mapping has made.
    open func sourceInstances(forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        origins(byMappingNamed: mappingName, of: destinationInstances)
    }

    /// Answers a FUNCTION that a value expression calls on `$manager`, of a name that this class does not know.
    /// - Parameters:
    ///   - selector: the name that the expression states, such as `"custom:"`.
    ///   - arguments: their values: numbers as `NSNumber`, objects, collections as arrays.
    /// - Returns: the value. An override asks `super` about names that it does not know.
    /// - Throws: by default 134110: no other function is known.
    open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataError.make(
            NSMigrationError,
            "\(Swift.type(of: self)) does not answer the function \"\(selector)\" of a value expression; override value(ofFunction:arguments:).")
    }

    // MARK: Migrating

    /// Migrates a store to another file. Where there is none at `dURL` one is made; where there is one its objects stay, and those of the source
    /// come to them, so that a large store can be migrated in several passes with a mapping model each.
    ///
    /// The destination has the source's metadata, identity included, where it was made by this. It is written beside its URL, and takes it once
    /// it is whole: what fails, and a crash, leave what was there before. The source is only read.
    /// - Throws: 134140 without a mapping model; 134150 and 134160 where the source or the destination cannot be opened or written; 134170
    ///   where a policy's class is not found; 134110 where the mapping model does not suit the models, or a value its property, with a `reason`;
    ///   134111 where objects are not as unique as the new model wants them; what the model's rules say of the new objects (1550 to 1690, 1560
    ///   for several); what a policy throws, and what the migration was cancelled with.
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

    /// The same, with the modern spelling.
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
struct MigrationEnd {
    let url: URL
    let type: String
    let options: [AnyHashable: Any]?
    var configuration: String?
}
