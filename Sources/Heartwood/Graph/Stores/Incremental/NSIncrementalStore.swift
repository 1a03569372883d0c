import Foundation
import RecordLog
import Synchronization

/// A store that reads and writes objects on demand. Subclass it for a web service, another database, or more files than can be read at once.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)` and `newValue(forRelationship:forObjectWith:with:)`.
/// The stack calls a store from one thread at a time, on the queue of the context that needs it, unless the store overrides
/// `supportsConcurrentReads`. Calls may nest (a predicate that the store evaluates on objects fires faults). A call blocks the context, so use a
/// store that must wait for a network with contexts of their own queues.
///
/// A store whose calls are dear overrides the methods for several objects at once too, which Core Data does not have:
/// `newValuesForObjects(with:with:)`, `newValues(forRelationship:forObjectsWith:with:)` and `versions(ofObjectsWith:with:)`.
///
/// The stack adds faulting and uniquing, unsaved changes in fetches, conflicts by the nodes' versions, uniqueness constraints (with a fetch for
/// each new value), counts, dictionaries, and predicates that the store does not support. Values that a context has read stay in memory until it is
/// reset or released. Batch requests and `explain` throw 134091. The store computes derived attributes: objects show the nodes' values.
/// Source: https://developer.apple.com/documentation/coredata/nsincrementalstore
open class NSIncrementalStore: NSPersistentStore, GraphStore, FileStore, @unchecked Sendable {
    // Unchecked: `schema` is set while the store is loaded; locks guard the rest.

    private var schemaLog: BackingLog?
    private(set) final var schema: RecordLogSchema?
    private var runtimes: [ObjectIdentifier: EntityRuntime] = [:]
    private let references = ReferenceTable()
    private let turn = NSRecursiveLock()
    private let isOpen = Atomic<Bool>(false)
    /// By object: the version under which the last context to save it keeps the saved values.
    private let saves = Mutex(Saves())

    private struct Saves {
        var versions: [ObjectKey: UInt32] = [:]
        /// Counts down from the top, where nodes' versions seldom are.
        var next = UInt32.max - 1
    }

    override final package var seam: any GraphStore { self }
    package final var registrationStore: (any RegistrationStore)? { self }
    package static var isOneFile: Bool { false }
    package final var slotCount: Int { schema?.tables.count ?? 0 }

    // MARK: For subclasses to override

    /// The `NSStoreUUIDKey` for a new store at a URL. The default is the text of a new UUID.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Opens the store's source, and sets `metadata`: at least `NSStoreUUIDKey` and `NSStoreTypeKey`, and `NSStoreModelVersionHashesKey` from the
    /// time when the store was made, if the stack must check the model. The default makes a new identifier, which other processes do not know.
    /// - Throws: an error that keeps the store from being used. The store is not added then, and adding it throws this error.
    open override func loadMetadata() throws {
        metadata = [
            NSStoreUUIDKey: "\(Self.identifierForNewStore(at: url ?? NSPersistentStore.nowhere))", NSStoreTypeKey: type,
        ]
    }

    /// Executes a fetch, or saves changes.
    ///
    /// - A fetch request is an `NSFetchRequest<any NSFetchRequestResult>` with its entity, predicate, sort descriptors, limit and offset. Depending
    ///   on its `resultType` the result is an array of objects (`context.object(with:)`, faults are enough) or of object IDs, an array with one
    ///   number for a count, or an array of dictionaries. It reflects the stored state: the stack adds the unsaved changes of `context`. So do not
    ///   evaluate a predicate on objects of `context`, which have these changes; use another context of your own on the same coordinator.
    /// - An `NSSaveChangesRequest` is executed whole or not at all, and the result is an empty array. The objects have permanent IDs, and give
    ///   their values by key-value coding. The stack has just compared their versions.
    /// - Parameters:
    ///   - request: one of these.
    ///   - context: nil if no context makes the request.
    /// - Throws: for a fetch, the error that the fetch throws. 134091 (`NSPersistentStoreUnsupportedRequestTypeError`) means that the store does
    ///   not support the request: the stack then requests all objects of the entity and does the rest itself. For a save, the error that `save()`
    ///   throws; nothing has changed then, and the context keeps its changes. 133020 with `NSMergeConflict`s under
    ///   `NSPersistentStoreSaveConflictsErrorKey` goes to the merge policy, and the save is retried.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw CoreDataError.unsupported("\(Swift.type(of: self)) does not override execute(_:with:).")
    }

    /// Returns the stored values of one object. Called when a fault fires, when an object is refreshed, and before it is saved, for its version.
    /// After a save an object shows the saved values; only for an entity with derived attributes this is called then.
    /// - Throws: 133000 (`CocoaError(.managedObjectReferentialIntegrity)`) if the object does not exist any more. Any other error is remembered:
    ///   the property that was read is nil, and the context's next save throws 134030 with this error beneath.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw CoreDataError.unsupported("\(Swift.type(of: self)) does not override newValuesForObject(with:with:).")
    }

    /// Returns the stored destinations of a relationship: for a to-many relationship an array (or set) of `NSManagedObjectID`s, in order if it is
    /// ordered; for a to-one relationship an `NSManagedObjectID`, or `NSNull`.
    /// - Throws: the errors of `newValuesForObject(with:with:)`.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CoreDataError.unsupported("\(Swift.type(of: self)) does not override newValue(forRelationship:forObjectWith:with:).")
    }

    // MARK: Several objects at once

    /// Whether the stack may read from several threads at once: fetches, values and relationships. Saves still come one at a time, and reads may
    /// come beside them. The default is false: all calls come one at a time.
    open var supportsConcurrentReads: Bool { false }

    /// Returns the stored values of several objects: those that prefetching needs, those of a batch of results, and those of a save, for their
    /// versions. The default calls `newValuesForObject(with:with:)` for each.
    /// - Returns: a node for each object that exists, in any order.
    /// - Throws: an error that the fetch or the save throws.
    open func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode] {
        try objectIDs.compactMap { id in
            do {
                return try newValuesForObject(with: id, with: context)
            } catch {
                guard CoreDataError.isCode(NSManagedObjectReferentialIntegrityError, error) else { throw error }
                return nil
            }
        }
    }

    /// Returns the stored destinations of one relationship of several objects, for prefetching. The default calls
    /// `newValue(forRelationship:forObjectWith:with:)` for each.
    /// - Returns: what that method returns, for each object in the order of the IDs.
    /// - Throws: an error that the fetch throws.
    open func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any] {
        try objectIDs.map { try newValue(forRelationship: relationship, forObjectWith: $0, with: context) }
    }

    /// Returns the stored versions of the objects that a save changes, deletes or checks. The save then reads only objects of other versions than
    /// the context knows. An object without a version does not exist any more. The default returns nil: the save reads all of these objects.
    /// - Throws: an error that the save throws.
    open func versions(
        ofObjectsWith objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: UInt64]? { nil }

    /// Returns permanent IDs for objects that the next save inserts, made with `newObjectID(for:referenceObject:)`, in the order of the objects.
    /// The default uses the text of a new UUID as each reference object.
    /// - Throws: the error that the save, or `NSManagedObjectContext.obtainPermanentIDs(for:)`, throws.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }

    /// Called when a context has registered objects of this store: it may read their values. It is called for each context that has an object; for
    /// new objects after their save, with all objects of a save at once. The default does nothing.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context has released objects: it does not read their values until they are registered again. The default does nothing.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    // MARK: IDs

    /// Returns the ID of the object that a reference object identifies. Equal reference objects give the same ID in every process.
    /// - Parameters:
    ///   - entity: the object's.
    ///   - data: immutable; a string or an integer, whose text is in the URI of the ID. From a URI it is an `Int` if the text is one, or else a
    ///     string.
    /// - Precondition: the entity is not abstract, and belongs to this store.
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        references.objectID(of: data, runtimes[ObjectIdentifier(entity)], entity, in: self)
    }

    /// Returns the reference object of an ID of this store.
    /// - Precondition: the ID belongs to this store, and is not temporary.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        references.reference(of: objectID)
    }

    /// Gives an object another reference object: a store may choose it only while it saves the object. IDs that were made before have the old one.
    package final func replaceReferenceObject(of objectID: NSManagedObjectID, with data: Any) {
        references.replace(objectID.key.row, slot: objectID.key.slot, with: data)
    }

    package final func key(named name: String, of runtime: EntityRuntime) -> ObjectKey? {
        let row = references.row(named: name, slot: runtime.slot)
            ?? references.row(of: Int(name).flatMap { "\($0)" == name ? $0 : nil } ?? name, slot: runtime.slot).row
        return ObjectKey(slot: runtime.slot, row: row)
    }

    final func objectID(of key: ObjectKey) -> NSManagedObjectID? {
        table(of: key).map { NSManagedObjectID(entity: $0.runtime.entity, key: key, store: self, contextToken: 0) }
    }

    final func table(of key: ObjectKey) -> EntityTable? { schema?.table(of: key, slotBase: slotBase) }

    // MARK: Called by the stack

    package final func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        slotBase = UInt64(firstSlot) << 48
        names = references
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

    package final func unload() throws {
        isOpen.store(false, ordering: .releasing)
        try schemaLog?.unload()
    }

    final var isUsable: Bool { isOpen.load(ordering: .acquiring) }

    package final func newestView(for context: NSManagedObjectContext) throws -> any StoreView {
        guard isUsable, let schema else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
        }
        return IncrementalView(self, schema, context)
    }

    package final func save(_ batch: SaveBatch) throws {
        guard let context = (batch.inserted + batch.updated + batch.deleted).first?.managedObjectContext,
            let view = try context.view(of: self) as? IncrementalView
        else { return }
        try inTurn { try IncrementalSave(self, view, batch, context).run() }
        noteMetadataKept()
    }

    /// Requests a save without objects.
    /// Source: https://developer.apple.com/documentation/coredata/nsincrementalstore/execute(_:with:)
    package final func writeMetadata() throws {
        _ = try inTurn { try execute(NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), with: nil) }
    }

    package final func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        let ids = try inTurn { try obtainPermanentIDs(for: objects.map(\.object)) }
        guard ids.count == objects.count, zip(ids, objects).allSatisfy({ $0.key.slot == $1.runtime.slot && !$0.isTemporaryID }) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError,
                "obtainPermanentIDs(for:) gave \(ids) for \(objects.count) objects: not an ID of each one's entity.",
                [NSAffectedObjectsErrorKey: objects.map(\.object)])
        }
        return ids.map(\.key)
    }

    /// Calls the subclass for a read.
    final func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
        try supportsConcurrentReads ? body() : inTurn(body)
    }

    /// Calls the subclass, one thread at a time.
    package final func inTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
        turn.lock()
        defer { turn.unlock() }
        return try body()
    }

    // MARK: Versions of what was saved

    /// - Returns: a version for the values just saved. The object has it until it is read or saved again.
    final func noteSave(of key: ObjectKey) -> UInt32 {
        saves.withLock { saves in
            defer { saves.next = saves.next > 1 ? saves.next - 1 : .max - 1 }
            saves.versions[key] = saves.next
            return saves.next
        }
    }

    /// Whether the object was not saved again here since `noteSave` gave it this version.
    final func isLastSave(_ version: UInt32, of key: ObjectKey) -> Bool { saves.withLock { $0.versions[key] == version } }

    final func forgetSave(of key: ObjectKey) { saves.withLock { $0.versions[key] = nil } }
}

extension NSIncrementalStore: RegistrationStore {
    package final func noteRegistered(_ keys: [ObjectKey]) {
        guard isUsable, !keys.isEmpty else { return }
        inTurn { managedObjectContextDidRegisterObjects(with: keys.compactMap(objectID)) }
    }

    package final func noteUnregistered(_ keys: [ObjectKey]) {
        guard isUsable, !keys.isEmpty else { return }
        inTurn { managedObjectContextDidUnregisterObjects(with: keys.compactMap(objectID)) }
    }
}
