import Foundation
import RecordLog
import Synchronization

/// A store that is asked for what is needed when it is needed: the class to subclass for a web service, another database, or files that
/// are too many to read at once.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)` and
/// `newValue(forRelationship:forObjectWith:with:)`. The stack calls a store from one thread at a time, on the queue of the context that
/// asks; a call may come from within another (a predicate that the store evaluates on objects fires faults). A call blocks the context,
/// so a store that must wait for a network is used with contexts of their own queues.
///
/// What the stack does on top: faulting and uniquing, unsaved changes in fetches, conflicts by the nodes' versions, uniqueness
/// constraints (by a fetch for each new value), counts, dictionaries and predicates that the store says it does not know. What
/// a context has read stays in memory until it is reset or goes. Batch requests and `explain` are refused (134091). Derived attributes are
/// the store's to compute: objects show what the nodes say.
/// Source: https://developer.apple.com/documentation/coredata/nsincrementalstore
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    // Unchecked: `schema` is set while the store is loaded; the rest is under locks.

    private var schemaLog: BackingLog?
    private(set) final var schema: RecordLogSchema?
    private var runtimes: [ObjectIdentifier: EntityRuntime] = [:]
    private let references = ReferenceTable()
    private let turn = NSRecursiveLock()
    private let isOpen = Atomic<Bool>(false)
    /// By object: the version under which the context that saved it last keeps what it has saved.
    private let saves = Mutex(Saves())

    private struct Saves {
        var versions: [ObjectKey: UInt32] = [:]
        /// From above, where nodes' versions seldom are.
        var next = UInt32.max - 1
    }

    override final var namesObjects: Bool { true }
    override final var slotCount: Int { schema?.tables.count ?? 0 }

    // MARK: For subclasses to override

    /// What a subclass takes as `NSStoreUUIDKey` for a store that it makes at a URL. The default gives the text of a new UUID.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Opens what is behind the store, and sets `metadata`: `NSStoreUUIDKey` and `NSStoreTypeKey` at least, and
    /// `NSStoreModelVersionHashesKey` as it was after the store was made, where the model is to be checked. The default makes a new
    /// identity, which other processes do not know.
    /// - Throws: what keeps the store from being used; it is not added then, and adding it throws this error.
    open override func loadMetadata() throws {
        metadata = [
            NSStoreUUIDKey: "\(Self.identifierForNewStore(at: url ?? NSPersistentStore.nowhere))", NSStoreTypeKey: type,
        ]
    }

    /// Answers a fetch, or saves changes.
    ///
    /// - A fetch request is an `NSFetchRequest<any NSFetchRequestResult>` with its entity, predicate, sort descriptors, limit and offset.
    ///   By its `resultType` the answer is an array of objects (`context.object(with:)`, faults are enough) or of object IDs, an array
    ///   with one number for a count, or an array of dictionaries. It tells of what is stored: changes of `context` that are not saved
    ///   are the stack's to add, so a predicate is not to be evaluated on objects of `context`, which has them; a context
    ///   of the store's own on the same coordinator will do.
    /// - An `NSSaveChangesRequest` is carried out whole or not at all, and the answer is an empty array. The objects have permanent IDs,
    ///   and give their values by key-value coding. The stack has compared their versions just before.
    /// - Parameter context: nil where there is none.
    /// - Throws: for a fetch what the fetch is to throw. 134091 (`NSPersistentStoreUnsupportedRequestTypeError`) says that the store
    ///   does not know how: then the stack asks for all objects of the entity and does the rest itself. For a save what
    ///   `save()` is to throw; nothing has changed then, and the context keeps its changes. 133020 with `NSMergeConflict`s
    ///   under `NSPersistentStoreSaveConflictsErrorKey` goes to the merge policy, and the save is tried again.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw CoreDataError.unsupported("\(Swift.type(of: self)) does not override execute(_:with:).")
    }

    /// The stored values of one object: called when a fault fires, when an object is refreshed, and before it is saved, for its version. After
    /// a save an object shows what was saved; of an entity with derived attributes it is asked for then.
    /// - Throws: 133000 (`CocoaError(.managedObjectReferentialIntegrity)`) where there is no such object any more. Any other error is
    ///   kept: the property that was asked for is nil, and the context's next save throws 134030 with this error beneath.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw CoreDataError.unsupported("\(Swift.type(of: self)) does not override newValuesForObject(with:with:).")
    }

    /// The stored destinations of a relationship: of a to-many relationship an array (or set) of `NSManagedObjectID`s, in order where it
    /// is ordered; of a to-one relationship an `NSManagedObjectID`, or `NSNull`.
    /// - Throws: as `newValuesForObject(with:with:)`.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CoreDataError.unsupported("\(Swift.type(of: self)) does not override newValue(forRelationship:forObjectWith:with:).")
    }

    /// Permanent IDs for objects that the next save inserts, made with `newObjectID(for:referenceObject:)`, in the order of the objects. The
    /// default takes the text of a new UUID as the reference object of each.
    /// - Throws: what the save, or `NSManagedObjectContext.obtainPermanentIDs(for:)`, is to throw.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }

    /// Called when a context has got objects of this store that it did not have: it may ask for their values. Called once more for each
    /// context that has an object; of new ones once they are saved, of all of a save at once. The default does nothing.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context has let go of objects: nobody asks for their values until they are registered again. The default does
    /// nothing.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    // MARK: IDs

    /// The ID of the object that a reference object names: the same for the same reference object, in every process.
    /// - Parameter data: immutable; a string or an integer, whose text is in the URI of the ID. One that comes from a URI is an `Int` where
    ///   it reads as one, else a string.
    /// - Precondition: the entity is not abstract, and of this store.
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        references.objectID(of: data, runtimes[ObjectIdentifier(entity)], entity, in: self)
    }

    /// The reference object of an ID of this store.
    /// - Precondition: the ID is of this store, and not temporary.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        references.reference(of: objectID)
    }

    override final func name(of key: ObjectKey) -> String? { references.name(of: key) }

    override final func key(named name: String, of runtime: EntityRuntime) -> ObjectKey? {
        let row = references.row(named: name, slot: runtime.slot)
            ?? references.row(of: Int(name).flatMap { "\($0)" == name ? $0 : nil } ?? name, slot: runtime.slot).row
        return ObjectKey(slot: runtime.slot, row: row)
    }

    final func objectID(of key: ObjectKey) -> NSManagedObjectID? {
        table(of: key).map { NSManagedObjectID(entity: $0.runtime.entity, key: key, store: self, contextToken: 0) }
    }

    final func table(of key: ObjectKey) -> EntityTable? { schema?.table(of: key, slotBase: slotBase) }

    // MARK: What the stack asks

    override final func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        slotBase = UInt64(firstSlot) << 48
        try loadMetadata()
        try checkVersion(model)
        completeMetadata(model, newIdentifier: "\(Self.identifierForNewStore(at: url ?? NSPersistentStore.nowhere))")
        // An empty log, for the layouts of its tables.
        let log = BackingLog.make(for: self)
        let list = try log.load(model: model, firstSlot: firstSlot)
        for runtime in list { runtimes[ObjectIdentifier(runtime.entity)] = runtime }
        schema = try log.loaded().schema
        schemaLog = log
        isOpen.store(true, ordering: .releasing)
        return list
    }

    override final func unload() throws {
        isOpen.store(false, ordering: .releasing)
        try schemaLog?.unload()
    }

    final var isUsable: Bool { isOpen.load(ordering: .acquiring) }

    override final func newestView(for context: NSManagedObjectContext) throws -> StoreView {
        guard isUsable, let schema else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
        }
        return IncrementalView(self, schema, context)
    }

    override final func save(_ batch: SaveBatch) throws {
        guard let context = (batch.inserted + batch.updated + batch.deleted).first?.managedObjectContext,
            let view = try context.view(of: self) as? IncrementalView
        else { return }
        try inTurn { try IncrementalSave(self, view, batch, context).run() }
        noteMetadataKept()
    }

    /// Asks for a save of no objects at all.
    /// Source: https://developer.apple.com/documentation/coredata/nsincrementalstore/execute(_:with:)
    override final func writeMetadata() throws {
        _ = try inTurn { try execute(NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), with: nil) }
    }

    override final func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        let ids = try inTurn { try obtainPermanentIDs(for: objects.map(\.object)) }
        guard ids.count == objects.count, zip(ids, objects).allSatisfy({ $0.key.slot == $1.runtime.slot && !$0.isTemporaryID }) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError,
                "obtainPermanentIDs(for:) gave \(ids) for \(objects.count) objects: not an ID of each one's entity.",
                [NSAffectedObjectsErrorKey: objects.map(\.object)])
        }
        return ids.map(\.key)
    }

    /// Calls the subclass, one thread at a time.
    final func inTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
        turn.lock()
        defer { turn.unlock() }
        return try body()
    }

    // MARK: Versions of what was saved

    /// - Returns: a version for what was just saved of an object, which it has until it is read or saved again.
    final func noteSave(of key: ObjectKey) -> UInt32 {
        saves.withLock { saves in
            defer { saves.next = saves.next > 1 ? saves.next - 1 : .max - 1 }
            saves.versions[key] = saves.next
            return saves.next
        }
    }

    /// Whether nobody has saved an object here since it got a version of `noteSave`.
    final func isLastSave(_ version: UInt32, of key: ObjectKey) -> Bool { saves.withLock { $0.versions[key] == version } }

    final func forgetSave(of key: ObjectKey) { saves.withLock { $0.versions[key] = nil } }

    // MARK: Registration

    final func noteRegistered(_ keys: [ObjectKey]) {
        guard isUsable, !keys.isEmpty else { return }
        inTurn { managedObjectContextDidRegisterObjects(with: keys.compactMap(objectID)) }
    }

    final func noteUnregistered(_ keys: [ObjectKey]) {
        guard isUsable, !keys.isEmpty else { return }
        inTurn { managedObjectContextDidUnregisterObjects(with: keys.compactMap(objectID)) }
    }
}
