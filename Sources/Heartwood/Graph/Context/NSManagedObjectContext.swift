import Foundation
import RecordLog

/// How a context's work is confined.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// To whichever thread the owner keeps it on.
    case confinementConcurrencyType = 0
    /// To a queue of its own; use it inside `perform`.
    case privateQueueConcurrencyType = 1
    /// To the main queue.
    case mainQueueConcurrencyType = 2
}

/// A scratch pad of managed objects: fetches them, keeps one instance of each, collects changes, and saves them at once.
///
/// A context and its objects belong to one queue: use them inside `perform`, or on the main queue for a main-queue
/// context. Unchanged objects are let go when nothing else refers to them; changed ones are kept until the save.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Unchecked: the state is confined to the context's queue, which callers honour as Core Data's contract says.

    /// How the context is confined.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    /// A name for debugging.
    open var name: String?
    /// Stamped on each commit that this context makes. A save of a record log refuses one of more than 1000 bytes.
    open var transactionAuthor: String?
    final var transactionOrigin: TransactionOrigin { TransactionOrigin(author: transactionAuthor, contextName: name) }
    final var policy = NSMergePolicy.error
    /// What `detectConflicts(for:)` was told since the last save.
    final var checked: [NSManagedObject] = []
    /// What changed since `processPendingChanges()` ran last; nothing is gathered unless somebody observes.
    final var events = ChangeEvents()
    /// The controllers of fetched results that follow this context; nil where there never was one.
    final var resultsFollowers: ResultsFollowers?
    /// Whether saves of other contexts are merged into this one.
    final var isFollowing = false
    /// Whatever the owner wants to keep with the context.
    open var userInfo: NSMutableDictionary { notes }
    private let notes = NSMutableDictionary()

    /// nil where the context is confined to a thread.
    final let queue: WorkQueue?
    /// Whether uses from the wrong queue trap.
    final let isWatched = ConcurrencyDebug.isOn
    /// The thread that made the context, where that matters.
    final let confiningThread: Thread?
    /// The root's; nil in a child.
    final var ownCoordinator: NSPersistentStoreCoordinator?
    /// See `parent`.
    private(set) final var parentContext: NSManagedObjectContext?
    /// What the contexts of one tree share; a child's is its root's.
    private(set) final var tree = ContextTree()
    /// How many of the tree's renames this context has adopted.
    final var keysSeen = 0
    /// The children that merge what is saved to this context.
    let followers = ContextFollowers()
    /// Objects that were never saved and are no more, of which children that follow are to hear.
    final var dropped: [NSManagedObject] = []

    final let identities = IdentityMap()
    /// The fault that a subclass's initializer is about to become, which takes over the runtime; without one where none is.
    @exclusivity(unchecked) final var faultInMaking: (key: ObjectKey, runtime: Unmanaged<EntityRuntime>?) = (.none, nil)
    /// Whether an object was inserted whose class is not its entity's.
    final var hasOtherClasses = false
    /// Whether objects are made of `NSManagedObject` itself, whatever class their entity has.
    final var usesPlainObjects = false
    /// Whether saves ask nothing of the model's rules.
    final var skipsValidation = false
    /// Of plain objects: the first key that a predicate or an expression has asked one for which has no such property.
    final var unknownKey: String?
    /// Every object that was inserted, updated or deleted since the last save; one that was put back stays listed.
    @exclusivity(unchecked) final var listed: [NSManagedObject] = []
    final var changeCount = 0
    /// By key: the objects of which a merge has told that they are deleted, until the next save. They are registered no more.
    final var mergedDeletions: [ObjectKey: NSManagedObject] = [:]
    /// How many of them there are when those that nobody holds go.
    final var mergedDeletionsMax = NSManagedObjectContext.mergedDeletionsMin
    /// How the newest fetch that a store answered was answered; tests assert on it.
    final var lastQuery: QueryStatistics {
        get {
            switch newestQuery {
            case .statistics(let statistics): statistics
            case .route: route?.statistics ?? QueryStatistics()
            }
        }
        set { newestQuery = .statistics(newValue) }
    }
    @exclusivity(unchecked) final var newestQuery = QueryRecord.statistics(QueryStatistics())
    /// The way of the newest look-up by a uniqueness constraint.
    @exclusivity(unchecked) final var route: CachedLookupPlan?
    /// What an index is asked for the value of a uniqueness constraint, in memory that stays.
    final let lookupKey = KeyBuilder()
    /// Whether the newest one that was looked at was evaluated on objects.
    final var lastQueryWasInMemory = false
    /// Whether a predicate has asked an object something that this context has changed, since a fetch made it false.
    @exclusivity(unchecked) final var hasMetChange = false
    /// How many entries of to-many relationships this context has read or looked up one by one; tests assert on it.
    final var memberEntriesRead = 0
    /// The first failure to read what a property's getter asked for, which cannot throw; the getter then gave nothing. Until
    /// `rollback()` or `reset()` nothing is saved: what was changed since may be derived from that nothing. A program that reads alone asks for
    /// this behind what it has read; nil: all that it read was there.
    public final internal(set) var readingFailure: (any Error)?
    /// Whether an object whose row has vanished counts as deleted once its fault fires, with nil for every value. Where false, the
    /// next save throws 133000 for it; `rollback()` and `reset()` make that forgotten.
    open var shouldDeleteInaccessibleFaults = true
    /// The error of the first fault whose row had vanished, where that does not make a deletion.
    final var unfulfilled: NSError?
    final var isSaving = false
    /// Stores of which others' commits came while this context saved.
    final var mergesAfterSave: [NSPersistentStore] = []
    /// Of which rows the last save has changed derived attributes alone.
    final var derivedKeys: [ObjectKey] = []
    /// What fetches with a batch size have put off.
    @exclusivity(unchecked) final var laterBatches: [LaterBatches] = []
    /// nil without an undo manager.
    final var recorder: UndoRecorder?
    /// The flags that each object of the context has.
    final var objectFlags: ObjectState = ConcurrencyDebug.isOn ? .watched : []
    /// How many of `listed` were changed first before the last event ended.
    final var eventStart = 0
    /// Objects that were changed in this event and in one before.
    final var changedAgain: [NSManagedObject] = []

    /// By slot: the runtimes met so far.
    @exclusivity(unchecked) final var runtimesBySlot: [EntityRuntime?] = []
    @exclusivity(unchecked) final var runtimesByEntity: [ObjectIdentifier: EntityRuntime] = [:]
    /// The entity that was asked for last by its name.
    @exclusivity(unchecked) final var named: NamedEntity?
    /// By class: the entity that names it.
    @exclusivity(unchecked) final var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The commits that this context reads; nil for the newest ones.
    final var generation: NSQueryGenerationToken?
    /// By the store's first slot: the view that reads use until the store has a newer commit.
    final var views: [UInt64: StoreView] = [:]
    /// The last view used, so that most reads look nothing up.
    @exclusivity(unchecked) final var lastView: (slotBase: UInt64, view: StoreView)?
    /// What keeps the memory of rows that objects point at.
    @exclusivity(unchecked) final var memory = RowMemory()
    /// How many callers hold rows that must stay where they are.
    @exclusivity(unchecked) final var rowUses = 0

    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        switch concurrencyType {
        case .mainQueueConcurrencyType: queue = .main
        case .privateQueueConcurrencyType: queue = WorkQueue(label: "heartwood.context")
        case .confinementConcurrencyType: queue = nil
        }
        confiningThread = queue == nil && isWatched ? Thread.current : nil
        super.init()
    }

    /// A context that is confined to a thread, as Core Data's plain initializer makes it.
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    deinit {
        #if canImport(ObjectiveC)
            // Foundation's manager would call a target that is gone.
            recorder?.manager.removeAllActions(withTarget: self)
        #endif
        for object in mergedDeletions.values { object.state.remove(.gone) }
        identities.detachAll()
        if parentContext != nil { tree.leave() }
    }

    /// The coordinator whose stores this context reads and writes; in a child its root's. Set it once, before the first use.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            precondition(parentContext == nil, "A context with a parent has the coordinator of its root; set it there.")
            guard newValue !== ownCoordinator else { return }
            precondition(ownCoordinator == nil || identities.count == 0,
                "A context's coordinator cannot be exchanged while it has objects; reset() it first.")
            if isFollowing {
                ownCoordinator?.followers.remove(self)
                newValue?.followers.add(self)
            }
            ownCoordinator = newValue
            generation = nil
            forgetViews()
        }
    }

    final var coordinator: NSPersistentStoreCoordinator? { parentContext?.coordinator ?? ownCoordinator }

    /// What `parent` does once it has found nothing wrong.
    final func adopt(_ parent: NSManagedObjectContext) {
        parentContext = parent
        tree = parent.tree
        tree.join()
        keysSeen = tree.count
        forgetViews()
    }

    /// Writes every change since the last save to the stores, at once or not at all. In a child context they go to the parent in place
    /// of a store, as its unsaved changes, and IDs stay temporary; see `parent`.
    ///
    /// Objects keep their identity; inserted ones get permanent IDs. By the store's durability the changes are on the
    /// disk when this returns.
    /// - Throws: Core Data's errors: 1550 to 1690 for a value that the model or the object's class does not allow, 1560 with all
    ///   of them where there are several, 132001 where it is called by what a save calls, 133020 where another context
    ///   or process changed an object meanwhile, 133021 where a value must be unique and is not, both only where the merge
    ///   policy does not resolve it, 134030 where the store cannot write, or could not read what a property was asked for since
    ///   the context was made, rolled back or reset (a property gives nil then, and changes may be derived from that). The context
    ///   keeps its changes, and the store is as it was.
    /// - Complexity: O(changed objects); one append and, with full durability, one `fdatasync` for each store.
    open func save() throws {
        checkQueue()
        guard !isSaving else {
            throw CoreDataError.make(
                CoreDataError.recursiveSave,
                "There was an attempt to save the context while it was saving: by willSave, didSave, a check or an observer.")
        }
        isSaving = true
        defer {
            isSaving = false
            mergePostponed()
            leaveReplacedFiles()
        }
        try saveChanges()
        announceDrops()
    }

    /// Called when a fault fires whose row has vanished.
    /// - Returns: whether the object is to count as deleted. The default returns `shouldDeleteInaccessibleFaults`.
    /// - Parameter property: nil: one row holds all properties.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    // MARK: What subclasses may override

    /// Whether there is anything to save, or a deletion was merged since the last save.
    open var hasChanges: Bool {
        checkQueue()
        return changeCount > 0 || !mergedDeletions.isEmpty
    }

    /// The objects that the next save writes for the first time.
    open var insertedObjects: Set<NSManagedObject> { changedObjects { $0.isInserted && !$0.isDeleted } }
    /// The objects that were saved before and have been changed since.
    open var updatedObjects: Set<NSManagedObject> { changedObjects(where: \.isUpdated) }
    /// The objects that the next save deletes, and those that others have deleted, as merges since the last save have told.
    open var deletedObjects: Set<NSManagedObject> {
        changedObjects { $0.isDeleted && !$0.state.contains(.detached) }.union(mergedDeletions.values)
    }

    /// Adds an object that belongs to no context yet; the next save writes it.
    open func insert(_ object: NSManagedObject) { performInsertion(of: object) }

    /// Marks an object for deletion by the next save, and follows the delete rules of its relationships: nullify takes it
    /// out of the other side, cascade deletes the destinations, deny makes the save fail while a destination remains.
    ///
    /// O(destinations). An object that was never saved is forgotten at once, whatever a deny rule says; nothing points at it then.
    /// Nothing happens where this context has deleted the object already.
    /// - Precondition: the object belongs to this context.
    open func delete(_ object: NSManagedObject) { performDeletion(of: object) }

    /// Turns an object into a fault again, so that its next use reads the store, and its fetched properties fetch anew. With
    /// `mergeChanges` its unsaved changes stay on top of the newer row, and its transient values stay; without, they are dropped. One that
    /// was never saved stays inserted: with `mergeChanges` as it is, without it has its entity's defaults again.
    open func refresh(_ object: NSManagedObject, mergeChanges: Bool) { performRefresh(of: object, mergeChanges: mergeChanges) }

    /// Refreshes every registered object, keeping unsaved changes.
    open func refreshAllObjects() { performRefreshOfAllObjects() }

    /// Ends the event: tells observers what has changed since this ran last. Called at the end of each `perform`; a context that is
    /// used outside its queue, or confined to a thread, calls it where it wants to be heard before the save. O(objects changed).
    open func processPendingChanges() {
        endPendingChanges()
        leaveReplacedFiles()
    }

    /// Gives permanent IDs to inserted objects ahead of the save that writes them. IDs that are permanent already stay.
    ///
    /// The store commits that the row numbers are taken, so no other context or process gets them; they stay taken if the
    /// objects are never saved. In a child the root's store is asked, and every context of the tree learns of the IDs.
    /// - Throws: 134030 where an object's store cannot be written, 134070 where no store holds its entity; no ID has changed then.
    /// - Complexity: one commit for each store.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try givePermanentIDs(to: objects) }

    /// Drops every change since the last save: inserted objects go, deleted ones come back, changed ones have the values that
    /// they had. Nothing is read anew (`refresh(_:mergeChanges:)` does that), but by deleted objects into which others' changes were merged,
    /// and where a property could not be read: then all objects read theirs, and saving is possible again. What could be undone is forgotten.
    open func rollback() { performRollback() }

    /// The object with this ID: the registered one, or a fault. Reads nothing, so the object may turn out not to exist
    /// when its fault fires.
    /// - Precondition: the ID belongs to a store of this context's coordinator; one of another coordinator over the same file will do.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { registeredObjectOrFault(with: objectID) }

    /// The object with this ID, read from the store or the parent: never a fault. One that another process has just saved is found.
    /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) where there is no such object.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject { try readObject(with: objectID) }

    /// What the other `fetch(_:)` asks, which knows the type of what it gives; a subclass overrides this one.
    ///
    /// A fetch within the library, such as that of a prefetched relationship, does not come here.
    /// - Throws: as the other does.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] { try found(by: request) }

    /// What the other `count(for:)` asks; a subclass overrides this one.
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int { try number(of: request) }

    /// Executes a request in the stores of this context's coordinator; of a child context its root's.
    ///
    /// Batch requests go straight to the stores: unsaved changes of contexts are neither seen nor touched, no notification of a save
    /// is posted, and no context merges anything by itself. A fetch request gives an `NSAsynchronousFetchResult` that is done.
    /// - Throws: as the request's class says; 134091 for a request that a store does not know; 513 for a read-only store.
    @_disfavoredOverload
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        return try request.executable().execute(in: self)
    }

    /// Runs `block` on the context's queue, later. Changes it leaves are not saved.
    ///
    /// The block takes over what it refers to, so the compiler refuses one that shares objects with its caller, be it an actor's
    /// state. A context without a queue of its own runs it at once.
    open func perform(_ block: sending @escaping () -> Void) { enqueue(block) }

    /// What the other `performAndWait(_:)` asks, which gives what its block gives; a subclass overrides this one.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }

    /// The object with this ID if the context has it registered, and somebody holds it or it has changed; reads nothing.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { objectAtHand(with: objectID) }

    /// The context that this one reads from and saves to. It takes a coordinator's place. Set it once, before the first use.
    ///
    /// A child sees its parent's objects with their unsaved changes. Its save moves its changes to the parent and no further; they reach a
    /// store when each context up to the root has saved. It keeps its parent alive.
    ///
    /// Whatever a child asks of its parent runs on the parent's queue while the child waits: reading a fault, a fetch, a save. So
    /// a thread that waits for a child must not be the one that the parent's queue needs: where the parent is a main-queue context, the
    /// main thread must not wait for a child's private queue, as on Apple's platforms. Contexts without queues of their own may be
    /// parents where both are used on one thread.
    /// - Precondition: neither a parent nor a coordinator was set, and the context has no objects. The parent is not a descendant.
    open var parent: NSManagedObjectContext? {
        get { parentContext }
        set { setParent(newValue) }
    }

    /// The context registers its changes with this manager, which can take them back. nil, the default: the context keeps nothing of them.
    ///
    /// Each event's changes become one action: attributes, relationships with both sides, insertions, and deletions with what they
    /// cascaded to. Saving keeps what can be undone: an undo after a save changes the objects again, and the next save writes
    /// that. What other contexts save and this one merges is not undone. `rollback()` and `reset()` forget the context's actions.
    ///
    /// Without an undo manager a change costs nothing for this; with one it costs a step of some 100 bytes, kept with the objects it
    /// names until the action is dropped.
    open var undoManager: UndoManager? {
        get { recorder?.manager }
        set { setUndoManager(newValue) }
    }

    /// Takes back the last group of changes. Does nothing without an undo manager, or where there is nothing to take back.
    open func undo() { performUndo() }

    /// Makes again what the last undo has taken back.
    open func redo() { performRedo() }

    /// Takes over what another context has saved: objects that this one knows read their rows again, with its own unsaved changes
    /// on top; deleted ones go, and are among its `deletedObjects` until its next save, which does nothing about them. One that this
    /// context has deleted stays so, and reads its row again should it come back: by `rollback()`, or an undo. Objects that it does not
    /// know cost nothing, nor do unchanged ones that nobody holds: it forgets them.
    /// - Parameter notification: a `didSaveObjectsNotification` or `didSaveObjectIDsNotification`, of a context over the same
    ///   stores; call this on the receiver's queue.
    /// - Complexity: O(objects saved).
    open func mergeChanges(fromContextDidSave notification: Notification) { mergeSave(of: notification) }

    /// Whether saves to this context's coordinator by other contexts, and by other processes once they are noticed, are merged into
    /// it, on its queue. A child merges what its parent saves, what the parent's other children save to it, and what the parent merges;
    /// with the parent's next save it hears of objects too that were never saved and are no more.
    /// A context without a queue of its own merges on the thread that saves, so only contexts of one thread may follow each other so.
    open var automaticallyMergesChangesFromParent: Bool {
        get { isFollowing }
        set { follow(newValue) }
    }

    /// What a save does about conflicts: an `NSMergePolicy`. The default is `NSMergePolicy.error`. A child's save conflicts only with
    /// a deletion in its parent.
    /// - Precondition: the value is a merge policy.
    open var mergePolicy: Any {
        get { policy }
        set { setPolicy(newValue) }
    }

    // MARK: Registered objects

    /// How many seconds old a row may be that a fault shows when it fires; the default is -1, any age.
    ///
    /// A fetch finds rows, and its faults show those when they fire, whoever has saved since. With 0 or more a fault reads its row once more
    /// when it fires: of the newest commit, other processes' too, or of the one that the context is pinned to. That is fresher than a
    /// positive interval asks for, and costs a look-up. Objects that are no faults stay as they are. A child asks its parent either way.
    @exclusivity(unchecked) public final var stalenessInterval: TimeInterval = -1

    /// Whether the context holds on to unchanged objects that nobody else refers to. The default is false: they are let go now and then, and
    /// where it would show: a context that is asked for such an object, or all of its objects, does not have it any more.
    open var retainsRegisteredObjects: Bool {
        get { identities.retainsAll }
        set {
            checkQueue()
            identities.retainsAll = newValue
            identities.sweep()
        }
    }

    /// Every object that the context knows and somebody holds, or that has changed. O(objects registered).
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        identities.sweep()
        return Set(identities.all).union(mergedDeletions.values)
    }

    /// Forgets every object and every change. Objects still referred to elsewhere belong to no context then: they read as nil
    /// throughout, and what is set on them goes nowhere.
    open func reset() { performReset() }
}
