import Foundation
import RecordLog

/// A context's confinement to a queue or thread.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// Confined to the thread that the owner uses it on.
    case confinementConcurrencyType = 0
    /// Confined to its own queue; use it inside `perform`.
    case privateQueueConcurrencyType = 1
    /// Confined to the main queue.
    case mainQueueConcurrencyType = 2
}

/// A scratch pad of managed objects: fetches them, keeps one instance of each, collects changes, and saves them together.
///
/// A context and its objects belong to one queue: use them inside `perform`, or on the main queue for a main-queue context. The context
/// releases unchanged objects that the program does not hold, and keeps changed ones until the save.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Unchecked: the state is confined to the context's queue. Callers keep to it, as Core Data's contract demands.

    /// The context's confinement.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    /// A name for debugging.
    open var name: String?
    /// The author that each commit of this context records. A save to a record log refuses an author of more than 1000 bytes.
    open var transactionAuthor: String?
    final var transactionOrigin: TransactionOrigin { TransactionOrigin(author: transactionAuthor, contextName: name) }
    final var policy = NSMergePolicy.error
    /// A dictionary for the owner's use.
    open var userInfo: NSMutableDictionary { notes }
    private let notes = NSMutableDictionary()
    /// The first failed read of a property's getter. Getters cannot throw: the getter returned nothing, and every later save throws this
    /// failure until you call `rollback()` or `reset()`, because changes may be derived from the missing value. A program that only reads
    /// can check this after reading; nil means that every read succeeded.
    public final internal(set) var readingFailure: (any Error)?
    /// Whether an object whose row has vanished counts as deleted when its fault fires; its values are then nil. If false, the next save
    /// throws 133000 for it, until `rollback()` or `reset()`.
    open var shouldDeleteInaccessibleFaults = true

    // The parts of a context's state.

    /// Whether a subclass may override what this library calls; false for the subclass of a layer of this package.
    package final var mayOverride = true
    final let confinement: Confinement
    /// See `parent`.
    private(set) final var parentContext: NSManagedObjectContext?
    /// State shared by the contexts of one tree; a child uses its root's.
    private(set) final var tree = ContextTree()
    /// The children that merge saves to this context.
    let followers = ContextFollowers()
    final var lineage = ContextLineage()
    final let identities = IdentityMap()
    @exclusivity(unchecked) final var making = ObjectMaking()
    @exclusivity(unchecked) final var pending = PendingChanges()
    /// Changes since the last `processPendingChanges()`; collected only if there are observers.
    final var events = ChangeEvents()
    /// nil without an undo manager.
    final var recorder: UndoRecorder?
    @exclusivity(unchecked) final var readState = ReadState()
    @exclusivity(unchecked) final var queries = QueryState()
    @exclusivity(unchecked) final var cache = RuntimeCache()

    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        confinement = Confinement(concurrencyType)
        super.init()
    }

    /// Makes a context that is confined to a thread, as Core Data's plain initializer does.
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    deinit {
        #if canImport(ObjectiveC)
            // Foundation's undo manager would call a deallocated target.
            recorder?.manager.removeAllActions(withTarget: self)
        #endif
        for object in pending.mergedDeletions.values { object.state.remove(.gone) }
        identities.detachAll()
        if parentContext != nil { tree.leave() }
    }

    /// The coordinator whose stores this context reads and writes; a child has its root's. Set it once, before the first use.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            demand(parentContext == nil, "A context with a parent has the coordinator of its root; set it there.")
            guard newValue !== lineage.ownCoordinator else { return }
            demand(lineage.ownCoordinator == nil || identities.count == 0,
                "A context's coordinator cannot be exchanged while it has objects; reset() it first.")
            if lineage.isFollowing {
                lineage.ownCoordinator?.followers.remove(self)
                newValue?.followers.add(self)
            }
            lineage.ownCoordinator = newValue
            readState.generation = nil
            forgetViews()
            learnOfChanges()
        }
    }

    final var coordinator: NSPersistentStoreCoordinator? { parentContext?.coordinator ?? lineage.ownCoordinator }

    /// Sets the parent after `setParent` has checked it.
    final func adopt(_ parent: NSManagedObjectContext) {
        parentContext = parent
        tree = parent.tree
        tree.join()
        lineage.keysSeen = tree.count
        forgetViews()
        // The context has no objects yet, so no commit until now concerns it.
        learnOfChanges()
    }

    /// Writes every change since the last save to the stores, atomically. A child context writes its changes to its parent, as the parent's
    /// unsaved changes; its IDs stay temporary, see `parent`.
    ///
    /// Objects keep their identity; inserted ones get permanent IDs. When this returns, the changes are on the disk to the degree of the
    /// store's durability.
    /// - Throws: Core Data's errors. 1550 to 1690 for a value that the model or the object's class does not allow, 1560 with all of them if
    ///   there are several. 132001 if a save is already running, that is, if code that a save calls calls this. 133020 if another context
    ///   or process has changed an object in the meantime, and 133021 if a unique value exists twice, both only if the merge policy does
    ///   not resolve it. 134030 if the store cannot write, or if a property could not be read since the context was made, rolled back or
    ///   reset: its getter returned nil, and changes may be derived from that. After a throw the context keeps its changes, and the store
    ///   is unchanged.
    /// - Complexity: O(changed objects); one append and, with full durability, one `fdatasync` for each store.
    open func save() throws {
        checkQueue()
        guard !pending.isSaving else {
            throw CoreDataError.make(
                CoreDataError.recursiveSave,
                "There was an attempt to save the context while it was saving: by willSave, didSave, a check or an observer.")
        }
        pending.isSaving = true
        defer {
            pending.isSaving = false
            mergePostponed()
            leaveReplacedFiles()
        }
        try saveChanges()
        announceDrops()
    }

    /// Called when a fault fires whose row has vanished.
    /// - Returns: whether the object counts as deleted. The default returns `shouldDeleteInaccessibleFaults`.
    /// - Parameters:
    ///   - fault: the object.
    ///   - objectID: its ID.
    ///   - property: always nil, because one row holds all properties.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    // MARK: Overridable members

    /// Whether there are changes to save, or a merge since the last save has reported a deletion.
    open var hasChanges: Bool {
        checkQueue()
        return pending.changeCount > 0 || !pending.mergedDeletions.isEmpty
    }

    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> { changedObjects { $0.isInserted && !$0.isDeleted } }
    /// The saved objects that were changed since the last save.
    open var updatedObjects: Set<NSManagedObject> { changedObjects(where: \.isUpdated) }
    /// The objects that the next save deletes, and those that merges since the last save have reported as deleted.
    open var deletedObjects: Set<NSManagedObject> {
        changedObjects { $0.isDeleted && !$0.state.contains(.detached) }.union(pending.mergedDeletions.values)
    }

    /// Adds an object that belongs to no context; the next save inserts it.
    open func insert(_ object: NSManagedObject) { performInsertion(of: object) }

    /// Marks an object for deletion by the next save, and applies the delete rules of its relationships: nullify clears the other side,
    /// cascade deletes the destinations, deny makes the save fail while a destination remains.
    ///
    /// An object that was never saved leaves the context at once, even with a deny rule, and no object points at it afterwards. Does
    /// nothing if this context has already deleted the object.
    /// - Complexity: O(destinations).
    /// - Precondition: the object belongs to this context.
    open func delete(_ object: NSManagedObject) { performDeletion(of: object) }

    /// Turns an object into a fault, so that its next use reads the store again and its fetched properties fetch again. With `mergeChanges`
    /// its unsaved changes stay on top of the newer row, and its transient values stay; without, they are dropped. An object that was never
    /// saved stays inserted: unchanged with `mergeChanges`, with its entity's defaults without.
    open func refresh(_ object: NSManagedObject, mergeChanges: Bool) { performRefresh(of: object, mergeChanges: mergeChanges) }

    /// Refreshes every registered object, keeping unsaved changes.
    open func refreshAllObjects() { performRefreshOfAllObjects() }

    /// Ends the event and notifies observers of the changes since the last call. Runs at the end of each `perform`. A context that is used
    /// outside its queue, or is confined to a thread, calls this to notify observers before the save.
    /// - Complexity: O(objects changed).
    open func processPendingChanges() {
        endPendingChanges()
        leaveReplacedFiles()
    }

    /// Gives inserted objects permanent IDs before they are saved. Permanent IDs do not change.
    ///
    /// The store commits the reservation of the row numbers, so no other context or process uses them; they stay reserved if the objects
    /// are never saved. A child asks the root's store, and every context of the tree adopts the IDs.
    /// - Throws: 134030 if an object's store cannot be written, 134070 if no store holds its entity; then no ID has changed.
    /// - Complexity: one commit for each store.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try givePermanentIDs(to: objects) }

    /// Drops every change since the last save: inserted objects leave the context, deleted ones return, changed ones get their earlier
    /// values. Reads no newer rows (use `refresh(_:mergeChanges:)`), with two exceptions: deleted objects into which other contexts'
    /// changes were merged, and all objects if a property could not be read; saving is then possible again. Clears this context's undo
    /// actions.
    open func rollback() { performRollback() }

    /// Returns the object with this ID: the registered one, or a fault. Reads nothing, so a missing row is found only when the fault fires.
    /// - Precondition: the ID belongs to a store of this context's coordinator, or to another coordinator's store over the same file.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { registeredObjectOrFault(with: objectID) }

    /// Returns the object with this ID, read from the store or the parent: never a fault. Finds an object that another process has just
    /// saved.
    /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) if the object does not exist.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject { try readObject(with: objectID) }

    /// The overridable form of `fetch(_:)`, which the typed one calls; override this one in a subclass.
    ///
    /// The library's own fetches, such as that of a prefetched relationship, do not call it.
    /// - Throws: as the typed `fetch(_:)`.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] { try found(by: request) }

    /// The overridable form of `count(for:)`, which the typed one calls; override this one in a subclass.
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int { try number(of: request) }

    /// Executes a request in the stores of this context's coordinator; a child uses its root's. A batch of a child records the child's author and
    /// name, or else those of its nearest ancestor that has them.
    ///
    /// Batch requests work on the stores directly: they ignore unsaved changes of contexts, post no save notification, and contexts do not
    /// merge them automatically. A fetch request returns a finished `NSAsynchronousFetchResult`.
    /// - Throws: as documented for the request's class; 134091 for a request that a store does not know; 513 for a read-only store.
    @_disfavoredOverload
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        return try request.executable().execute(in: self)
    }

    /// Runs `block` on the context's queue, later. Does not save the block's changes.
    ///
    /// The block takes over the values that it captures, so the compiler refuses a block that shares objects with its caller, including an
    /// actor's state. A context without a queue runs the block at once.
    open func perform(_ block: sending @escaping () -> Void) { enqueue(block) }

    /// The overridable form of `performAndWait(_:)`, which the generic one calls; override this one in a subclass.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }

    /// Returns the object with this ID if it is registered and the program holds it or has changed it; reads nothing.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { objectAtHand(with: objectID) }

    /// The context that this one reads from and saves to. A context with a parent has no coordinator of its own. Set the parent once, before
    /// the first use.
    ///
    /// A child sees its parent's objects with their unsaved changes. Its save moves its changes to the parent only; they reach a store when
    /// each context up to the root has saved. A child keeps its parent alive.
    ///
    /// A child's fault, fetch and save run on the parent's queue while the child waits. So a thread that waits for a child must not be the
    /// thread that the parent's queue needs: if the parent is a main-queue context, the main thread must not wait for a child's private
    /// queue, as on Apple's platforms. A context without a queue may be a parent if both are used on one thread.
    /// - Precondition: neither a parent nor a coordinator was set, and the context has no objects. The parent is not a descendant.
    open var parent: NSManagedObjectContext? {
        get { parentContext }
        set { setParent(newValue) }
    }

    /// The manager with which the context registers undo actions. nil, the default, registers nothing.
    ///
    /// The changes of each event become one action: attributes, both sides of relationships, insertions, and deletions with their cascades.
    /// A save keeps the actions: an undo after a save changes the objects again, and the next save writes that. Merged saves of other
    /// contexts cannot be undone. `rollback()` and `reset()` clear the context's actions.
    ///
    /// Without an undo manager a change costs nothing extra. With one it costs a step of about 100 bytes, which is kept, with the objects
    /// that it names, until the action is dropped.
    open var undoManager: UndoManager? {
        get { recorder?.manager }
        set { setUndoManager(newValue) }
    }

    /// Undoes the last group of changes. Does nothing without an undo manager, or if there is nothing to undo.
    open func undo() { performUndo() }

    /// Makes the changes again that the last undo has reverted.
    open func redo() { performRedo() }

    /// Merges another context's save. Objects that this context knows read their rows again, under its own unsaved changes. Deleted objects
    /// leave the context and are among its `deletedObjects` until its next save, which ignores them. An object that this context has
    /// deleted stays deleted, and reads its row again if `rollback()` or an undo restores it. Unknown objects cost nothing; unchanged
    /// objects that the program does not hold are released.
    /// - Parameter notification: a `didSaveObjectsNotification` or `didSaveObjectIDsNotification` of a context over the same stores; call
    ///   this on the receiver's queue.
    /// - Complexity: O(objects saved).
    open func mergeChanges(fromContextDidSave notification: Notification) { mergeSave(of: notification) }

    /// Whether this context merges, on its queue, the saves of other contexts to its coordinator, and of other processes once they are
    /// noticed. A child merges its parent's saves and the parent's own merges: it learns of another child's save when the parent saves, also
    /// of inserted objects that were deleted before that. A context without a queue merges on the thread that saves, so such contexts may
    /// follow each other only on one thread.
    open var automaticallyMergesChangesFromParent: Bool {
        get { lineage.isFollowing }
        set { follow(newValue) }
    }

    /// Resolves the conflicts of saves: an `NSMergePolicy`. The default is `NSMergePolicy.error`. A child's save conflicts only with a
    /// deletion in its parent.
    /// - Precondition: the value is a merge policy.
    open var mergePolicy: Any {
        get { policy }
        set { setPolicy(newValue) }
    }

    // MARK: Registered objects

    /// The maximum age, in seconds, of the row that a firing fault shows; the default is -1, any age.
    ///
    /// A fetch finds rows, and its faults show these rows when they fire, even if another context has saved since. With 0 or more a firing
    /// fault reads its row again from the newest commit, including other processes' commits, or from the commit that the context is pinned
    /// to. That is fresher than a positive interval demands, and costs a look-up. Objects that are not faults stay unchanged. A child
    /// always asks its parent.
    @exclusivity(unchecked) public final var stalenessInterval: TimeInterval = -1

    /// Whether the context keeps unchanged objects that the program does not hold. The default is false: the context releases such objects
    /// from time to time, and before it returns one of them by its ID or lists its objects. What it has not released yet is never older than the
    /// fetch or look-up that returns it.
    open var retainsRegisteredObjects: Bool {
        get { identities.retainsAll }
        set {
            checkQueue()
            identities.retainsAll = newValue
            identities.sweep()
        }
    }

    /// The registered objects that the program holds or has changed. O(objects registered).
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        identities.sweep()
        return Set(identities.all).union(pending.mergedDeletions.values)
    }

    /// Forgets every object and every change. Objects that the program still holds then belong to no context: their properties are nil, and
    /// values set on them are lost.
    open func reset() { performReset() }
}
