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
    public final var name: String?
    /// Stamped on each commit that this context makes.
    public final var transactionAuthor: String?
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
    public final let userInfo = NSMutableDictionary()

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
    @exclusivity(unchecked) final var route: LookupRoute?
    /// What an index is asked for the value of a uniqueness constraint, in memory that stays.
    final let lookupKey = KeyBuilder()
    /// Whether the newest one that was looked at was evaluated on objects.
    final var lastQueryWasInMemory = false
    /// Whether a predicate has asked an object something that this context has changed, since a fetch made it false.
    @exclusivity(unchecked) final var hasMetChange = false
    /// How many entries of to-many relationships this context has read or looked up one by one; tests assert on it.
    final var memberEntriesRead = 0
    /// The first failure to read what a property's getter asked for, which cannot throw; the getter then gave nothing. Until
    /// `rollback()` or `reset()` nothing is saved: what was changed since may be derived from that nothing.
    package final internal(set) var readingFailure: (any Error)?
    /// Whether an object whose row has vanished counts as deleted once its fault fires, with nil for every value. Where false, the
    /// next save throws 133000 for it; `rollback()` and `reset()` make that forgotten.
    public final var shouldDeleteInaccessibleFaults = true
    /// The error of the first fault whose row had vanished, where that does not make a deletion.
    final var unfulfilled: NSError?
    final var isSaving = false
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
    @exclusivity(unchecked) private var runtimesBySlot: [EntityRuntime?] = []
    @exclusivity(unchecked) private var runtimesByEntity: [ObjectIdentifier: EntityRuntime] = [:]
    /// The entity that was asked for last by its name.
    @exclusivity(unchecked) final var named: NamedEntity?
    /// By class: the entity that names it.
    @exclusivity(unchecked) final var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The commits that this context reads; nil for the newest ones.
    final var generation: NSQueryGenerationToken?
    /// By the store's first slot: the view that reads use until the store has a newer commit.
    private var views: [UInt64: StoreView] = [:]
    /// The last view used, so that most reads look nothing up.
    @exclusivity(unchecked) private var lastView: (slotBase: UInt64, view: StoreView)?
    /// What keeps the memory of rows that objects point at.
    final var pinned: [AnyObject] = []

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

    deinit {
        #if canImport(ObjectiveC)
            // Foundation's manager would call a target that is gone.
            recorder?.manager.removeAllActions(withTarget: self)
        #endif
        identities.detachAll(pinned)
        if parentContext != nil { tree.leave() }
    }

    /// The coordinator whose stores this context reads and writes; in a child its root's. Set it once, before the first use.
    public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
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
        defer { isSaving = false }
        try saveChanges()
    }

    /// Called when a fault fires whose row has vanished.
    /// - Returns: whether the object is to count as deleted. The default returns `shouldDeleteInaccessibleFaults`.
    /// - Parameter property: nil: one row holds all properties.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    // MARK: Runtimes and views

    /// What objects of `entity` need at run time.
    final func runtime(for entity: NSEntityDescription) -> EntityRuntime {
        if let known = runtimesByEntity[ObjectIdentifier(entity)], !known.isRetired { return known }
        guard let coordinator else {
            preconditionFailure("The context has no persistent store coordinator and no parent; set either before inserting objects.")
        }
        let made = coordinator.runtime(for: entity)
        guard let store = made.store else { return made }
        // A store that can be written may take a read-only one's place.
        if !store.isReadOnly { runtimesByEntity[ObjectIdentifier(entity)] = made }
        remember(made)
        return made
    }

    private func remember(_ runtime: EntityRuntime) {
        if runtimesBySlot.contains(where: { $0?.isRetired == true }) { forgetRemovedStores() }
        if runtime.store is NSIncrementalStore, identities.observer == nil { identities.observer = RegistrationObserver() }
        let slot = Int(runtime.slot)
        while runtimesBySlot.count <= slot { runtimesBySlot.append(nil) }
        runtimesBySlot[slot] = runtime
    }

    /// Lets go of what is known of removed stores, so that their slots can be used again once nobody has an object of theirs.
    private func forgetRemovedStores() {
        let stores = Set((coordinator?.persistentStores ?? []).map(\.slotBase)), known = views.count
        views = views.filter { stores.contains($0.key) }
        var isAny = views.count < known
        for slot in runtimesBySlot.indices where runtimesBySlot[slot]?.isRetired == true {
            runtimesBySlot[slot] = nil
            isAny = true
        }
        guard isAny else { return }
        runtimesByEntity = runtimesByEntity.filter { !$0.value.isRetired }
        forgetRoute()
        lastView = nil
        identities.wantSweep()
    }

    @inline(__always)
    final func runtime(slot: UInt16) -> EntityRuntime? {
        let index = Int(slot)
        if index < runtimesBySlot.count, let known = runtimesBySlot[index] { return known }
        return findRuntime(slot: slot)
    }

    @inline(never)
    private func findRuntime(slot: UInt16) -> EntityRuntime? {
        guard let found = coordinator?.runtime(slot: slot) else { return nil }
        remember(found)
        return found
    }

    /// The newest view of a store, or the one that the context is pinned to. Its memory stays valid as long as this context, or until
    /// `reset()`.
    final func view(of store: NSPersistentStore) throws -> StoreView {
        if let lastView, lastView.slotBase == store.slotBase, lastView.view.isNewest || isPinned(on: store) { return lastView.view }
        let view = try generation?.view(of: store) ?? store.newestView(for: self)
        forgetRoute()
        if !views.isEmpty, views[store.slotBase] == nil { forgetRemovedStores() }
        if let old = views[store.slotBase], old.storage === view.storage {} else { pinned.append(view.storage) }
        views[store.slotBase] = view
        lastView = (store.slotBase, view)
        return view
    }

    /// The same for the store of a runtime; mostly without touching the store, which the runtime refers to weakly.
    @inline(__always)
    final func view(of runtime: EntityRuntime) throws -> StoreView {
        if let lastView, lastView.slotBase == runtime.slotBase, !runtime.isRetired, lastView.view.isNewest || generation != nil
        { return lastView.view }
        return try view(of: store(of: runtime))
    }

    /// Where the next read takes another commit than the last one did.
    final func forgetLastView() { lastView = nil }

    private func forgetViews() {
        // Its steps name rows, whose memory goes.
        recorder?.forget()
        laterBatches = []
        forgetRoute()
        views = [:]
        lastView = nil
        pinned = []
        runtimesBySlot = []
        runtimesByEntity = [:]
        entitiesByClass = [:]
    }

    // MARK: Registration

    final func nextTemporaryKey(slot: UInt16) -> ObjectKey {
        ObjectKey(slot: slot, row: tree.nextNumber() | ObjectKey.temporaryBit)
    }

    /// The object of `key`: the registered one, or a fault made now. nil where no store has such an entity.
    @inline(__always)
    final func object(for key: ObjectKey) -> NSManagedObject? {
        if let known = identities[key] { return known }
        return makeFault(key)
    }

    @inline(never)
    private func makeFault(_ key: ObjectKey) -> NSManagedObject? {
        let current = currentKey(key)
        if current != key, let known = identities[current] { return known }
        // An object without a row is its root's own, or that of a child's parent.
        guard !current.isTemporary || parentContext != nil, let runtime = runtime(slot: current.slot) else { return nil }
        sweepIfWanted()
        return makeFault(current, runtime: runtime)
    }

    final func makeFault(_ key: ObjectKey, runtime: EntityRuntime) -> NSManagedObject {
        makeFault(key, .passRetained(runtime), .passRetained(runtime.entity), .passRetained(self))
    }

    /// Takes over a reference to each of the arguments.
    @inline(__always)
    final func makeFault(
        _ key: ObjectKey, _ runtime: Unmanaged<EntityRuntime>, _ entity: Unmanaged<NSEntityDescription>,
        _ context: Unmanaged<NSManagedObjectContext>
    ) -> NSManagedObject {
        // Subclasses' initializers run too, so the way to tell them is beside the arguments.
        faultInMaking = (key, runtime)
        let objectClass = usesPlainObjects ? NSManagedObject.self : runtime._withUnsafeGuaranteedRef { $0.objectClass }
        let object = objectClass.init(entity: entity.takeRetainedValue(), insertInto: context.takeRetainedValue())
        precondition(faultInMaking.runtime == nil, "an initializer of an object's class hands over the context that it is given")
        identities.insert(object, for: key)
        return object
    }

    final func registeredObject(for key: ObjectKey) -> NSManagedObject? {
        identities[key] ?? identities[currentKey(key)]
    }

    final func objectID(for key: ObjectKey) -> NSManagedObjectID {
        if let object = identities[key] { return object.objectID }
        let runtime = runtime(slot: key.slot)
        return NSManagedObjectID(
            entity: runtime?.entity ?? NSEntityDescription(), key: key, store: runtime?.store, contextToken: tree.token)
    }

    /// How many seconds old a row may be that a fault shows when it fires; the default is -1, any age.
    ///
    /// A fetch finds rows, and its faults show those when they fire, whoever has saved since. With 0 or more a fault reads its row once more
    /// when it fires: of the newest commit, other processes' too, or of the one that the context is pinned to. That is fresher than a
    /// positive interval asks for, and costs a look-up. Objects that are no faults stay as they are. A child asks its parent either way.
    @exclusivity(unchecked) public final var stalenessInterval: TimeInterval = -1

    /// Whether the context holds on to unchanged objects that nobody else refers to. The default is false: they are let go now and then.
    public final var retainsRegisteredObjects: Bool {
        get { identities.retainsAll }
        set {
            checkQueue()
            identities.retainsAll = newValue
        }
    }

    /// Every object that the context knows, changed or not.
    public final var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(identities.all)
    }

    /// Forgets every object and every change. Objects still referred to elsewhere belong to no context then: they read as nil
    /// throughout, and what is set on them goes nowhere.
    open func reset() {
        checkQueue()
        let forgotten = ChangeEvents.areWanted ? identities.all.map(\.objectID) : []
        identities.forEach { $0.forgetEverything() }
        identities.removeAll()
        listed = []
        checked = []
        changedAgain = []
        eventStart = 0
        changeCount = 0
        readingFailure = nil
        unfulfilled = nil
        forgetViews()
        advanceGeneration()
        announceReset(forgotten)
    }

    /// Lets go of unchanged objects that nobody refers to, when enough have gathered.
    @inline(__always)
    final func sweepIfWanted() {
        if identities.wantsSweep { identities.sweep() }
    }
}
