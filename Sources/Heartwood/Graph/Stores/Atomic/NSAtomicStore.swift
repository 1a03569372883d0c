import Foundation
import RecordLog
import Synchronization

/// A store that is read whole when it is added and written whole at each save, in your own format. Subclass it for a file that fits in memory.
///
/// A subclass overrides `load()`, which makes a node for each object and registers it (`addCacheNodes(_:)`), and `save()`, which writes the nodes
/// in `cacheNodes()`. The stack does the rest: when the store is added it makes rows in memory from the nodes, keeps them beside the nodes, and
/// uses them for fetches, indexes, uniqueness constraints, conflicts and undo. The nodes hold the state of the last save, with derived attributes;
/// all but times (`now()`) are derived anew when the store is added.
///
/// The stack calls a store from one thread at a time. Two coordinators or processes with the same file open do not know of each other: as on
/// Apple's platforms, the last save overwrites the other's, unless `save()` checks that the file is still the one it read, and throws. (The
/// built-in binary store checks, and merges the saves of others.)
/// Source: https://developer.apple.com/documentation/coredata/nsatomicstore
open class NSAtomicStore: NSPersistentStore, GraphStore, FileStore, BackedStore, @unchecked Sendable {
    // Unchecked: `backing` and `runtimes` are set while the store is loaded; a lock guards the nodes.

    private struct State: @unchecked Sendable {
        // Unchecked: nodes belong to the store, whose calls come one after the other.
        var nodes: [ObjectKey: NSAtomicStoreCacheNode] = [:]
        /// The first ID for which a second node was registered.
        var repeated: NSManagedObjectID?
    }

    private var runtimes: [ObjectIdentifier: EntityRuntime] = [:]
    private let state = Mutex(State())
    private let references = ReferenceTable()

    override final package var seam: any GraphStore { self }
    final var schema: RecordLogSchema? { try? backing?.loaded().schema }

    // MARK: For subclasses to override

    /// Reads the file at `url` and registers a node for each object in it. Called once, when the store is added; a missing or empty file is a new
    /// store.
    ///
    /// Make each node with an ID from `objectID(for:withReferenceObject:)`. For a relationship with an inverse one side is enough; if a to-one side
    /// has a value, even `NSNull`, that value holds. Set `metadata` here or in `loadMetadata()`. The default registers nothing.
    /// - Throws: an error of the file, which adding the store throws; the store is not added then. Afterwards the stack throws 134080 for nodes
    ///   with values that the model does not allow, and for two nodes of one ID; 134100 if `metadata` has other version hashes.
    open func load() throws {}

    /// Writes everything, `metadata` included, so that a crash or an error leaves either the old state or the whole new one: write beside the file
    /// and rename, as `Data.write(to:options: .atomic)` does.
    ///
    /// Called in each save, after the nodes were updated and before the saved state becomes visible. The default writes nothing.
    /// - Throws: an error that makes the save fail: the context's `save()` throws it, its objects keep their changes, and the nodes'
    ///   `propertyCache`s are restored.
    open func save() throws {}

    /// Makes the node of an object that is saved for the first time; the stack registers it. The object has its permanent ID.
    ///
    /// The default makes a plain node with the object's attributes. The stack sets relationships for which the node has no value, after all new
    /// nodes were made.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        setAttributes(of: node, from: managedObject)
        return node
    }

    /// Updates a node from an object that is being saved. The default sets the changed values and relationships, and keeps the members that others
    /// have added and removed meanwhile.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        setAttributes(of: node, from: managedObject)
        setRelationships(of: node, from: managedObject, onlyMissing: false)
    }

    /// Called in a save with the nodes of deleted objects, which are still registered. The default does nothing.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// Returns a value that identifies a new object as long as the store exists: immutable, and unique within its entity. A string or an integer,
    /// or an object with the text of one: URIs of IDs contain the text. The default is the text of a new UUID.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    // MARK: Nodes

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { state.withLock { Set($0.nodes.values) } }

    /// Registers nodes. Call it in `load()`. If an ID has another node already, which a file may state, the store is not added.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        for node in cacheNodes {
            guard let old = replaceNode(node.objectID.key, with: node), old !== node else { continue }
            let id = node.objectID
            state.withLock { $0.repeated = $0.repeated ?? id }
        }
    }

    /// The node of an object; nil if none is registered.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { node(objectID.key) }

    final func node(_ key: ObjectKey) -> NSAtomicStoreCacheNode? {
        nonisolated(unsafe) let found = state.withLock { state -> NSAtomicStoreCacheNode? in
            nonisolated(unsafe) let node = state.nodes[key]
            return node
        }
        return found
    }

    /// - Returns: the node that was registered before.
    @discardableResult
    final func replaceNode(_ key: ObjectKey, with node: NSAtomicStoreCacheNode?) -> NSAtomicStoreCacheNode? {
        nonisolated(unsafe) let new = node
        nonisolated(unsafe) let old = state.withLock { state -> NSAtomicStoreCacheNode? in
            nonisolated(unsafe) let old = state.nodes.removeValue(forKey: key)
            state.nodes[key] = new
            return old
        }
        return old
    }

    // MARK: IDs

    /// The ID of the object that a reference object identifies. Equal reference objects give the same ID in every process.
    /// - Precondition: the entity is not abstract, and belongs to this store.
    public final func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        references.objectID(of: data, runtimes[ObjectIdentifier(entity)], entity, in: self)
    }

    /// The reference object of an ID of this store.
    /// - Precondition: the ID belongs to this store, and is not temporary.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        references.reference(of: objectID)
    }

    package final func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        try objects.map { object, runtime in
            let reference = newReferenceObject(for: object)
            let (row, isNew) = references.row(of: reference, slot: runtime.slot)
            guard isNew else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError,
                    "newReferenceObject(for:) gave \(reference), which names another object of \(object.entity.name ?? "?").",
                    [NSAffectedObjectsErrorKey: [object]])
            }
            return ObjectKey(slot: runtime.slot, row: row)
        }
    }

    // MARK: Called by the stack

    package final func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        slotBase = UInt64(firstSlot) << 48
        names = references
        try loadMetadata()
        try checkVersion(model)
        let log = BackingLog.make(for: self, saves: self)
        let list = try log.load(model: model, firstSlot: firstSlot)
        for runtime in list { runtimes[ObjectIdentifier(runtime.entity)] = runtime }
        try load()
        if let repeated = state.withLock({ $0.repeated }) {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The store at \(url?.path ?? "?") has two objects with the ID \(repeated.uriRepresentation().absoluteString).",
                [NSFilePathErrorKey: url?.path ?? "", NSAffectedObjectsErrorKey: [repeated]])
        }
        try checkVersion(model)
        completeMetadata(model, newIdentifier: UUID().uuidString)
        let nodes = state.withLock { state -> [ObjectKey: NSAtomicStoreCacheNode] in
            nonisolated(unsafe) let nodes = state.nodes
            return nodes
        }
        try log.fill(isOpening: true) { transaction, schema in
            var rows = CacheNodeRows(transaction, schema, slotBase: slotBase, nodes: nodes, references: references)
            try rows.write()
        }
        backing = log
        return list
    }

    package final func save(_ batch: SaveBatch) throws {
        guard let backing else { throw CoreDataError.make(NSPersistentStoreOperationError, "The store is not open.") }
        try backing.save(batch)
        noteMetadataKept()
    }

    package final func writeMetadata() throws { try save() }

    /// Records in the log the row numbers given out since the last save.
    package final func begin(_ transaction: Transaction, _ batch: SaveBatch) throws {
        guard let schema else { return }
        let inserted = Set(batch.inserted.map(\.key))
        try transaction.takeNumbers(of: references, schema) { inserted.contains($0) }
    }

    package final func finish(_ transaction: Transaction, _ batch: SaveBatch?, hasWritten: Bool) throws {
        guard let batch else { return }
        var changes = CacheNodeChanges(self)
        do {
            try changes.make(batch)
            try changes.derive(batch, transaction)
            if !putsOffWriting { try save() }
        } catch {
            changes.takeBack()
            throw error
        }
    }
}

extension Transaction {
    /// Uses up the row numbers that `references` has given out. Rows that this transaction does not write are put and deleted, so that the log
    /// itself counts their numbers as used.
    func takeNumbers(of references: ReferenceTable, _ schema: RecordLogSchema, where isWritten: (ObjectKey) -> Bool) throws {
        for case let table? in schema.tables {
            let slot = table.runtime.slot
            try takeNumbers(below: references.nextRow(slot: slot), in: table.id) { isWritten(ObjectKey(slot: slot, row: $0)) }
        }
    }

    private func takeNumbers(below next: UInt64, in table: TableID, where isWritten: (UInt64) -> Bool) throws {
        guard nextRow(table) < next, let layout = catalog.table(table)?.currentLayout else { return }
        let builder = RowBuilder()
        while nextRow(table) < next {
            let row = try newRow(in: table)
            guard !isWritten(row) else { continue }
            builder.begin(layout)
            let reference = RowReference(table: table, row: row)
            try put(reference, body: builder.unsafeBody())
            _ = try delete(reference)
        }
    }
}
