import Foundation
import RecordLog
import Synchronization

/// Connects a model with the stores that hold its objects.
///
/// Safe to use from several threads; contexts of several queues may share one coordinator.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    // Unchecked: all mutable state is in `state`, under its lock.

    /// The model. It cannot be changed once a coordinator has it.
    open var managedObjectModel: NSManagedObjectModel { model }
    final let model: NSManagedObjectModel
    /// A name for debugging.
    open var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    private struct State: @unchecked Sendable {
        var name: String?
        var stores: [NSPersistentStore] = []
        var routes = StoreRoutes()
        var runtimesBySlot: [EntityRuntime?] = []
        var nextSlot: Int = 0
        var storelessCount: UInt16 = 0
        private var retired: [RetiredSlots] = []

        /// The slots and runtimes of a removed store. Objects, views and contexts that know its rows retain its runtimes.
        private struct RetiredSlots {
            let range: Range<Int>
            let runtimes: [Weak]

            struct Weak {
                weak var runtime: EntityRuntime?
            }
        }

        mutating func retire(_ store: NSPersistentStore) {
            var gone: [RetiredSlots.Weak] = []
            for slot in runtimesBySlot.indices {
                guard let runtime = runtimesBySlot[slot], runtime.store === store else { continue }
                runtime.retire()
                gone.append(RetiredSlots.Weak(runtime: runtime))
                runtimesBySlot[slot] = nil
            }
            retired.append(RetiredSlots(range: Self.slots(of: store), runtimes: gone))
        }

        /// Slots have 16 bits; the last ones are for entities without a store.
        private static let slotsMax = 60 << 10

        /// A store's slots, with room for the tables that later versions of the model add.
        static func slots(of store: NSPersistentStore) -> Range<Int> {
            let first = Int(store.slotBase >> 48)
            return first..<first + max(256, store.seam.slotCount * 2)
        }

        /// Returns the first slot for a new store: behind all slots used so far. Once those are many, it reuses the slots of removed stores
        /// of which no row is known any more, because a key must never come to name another object. nil if there is no room.
        mutating func freeSlot() -> UInt16? {
            if nextSlot < Self.slotsMax { return UInt16(nextSlot) }
            retired.removeAll { slots in slots.runtimes.allSatisfy { $0.runtime == nil } }
            var free = 0
            for taken in (stores.map(Self.slots) + retired.map(\.range)).sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if taken.lowerBound >= free + 1024 { break }
                free = max(free, taken.upperBound)
            }
            return free < Self.slotsMax ? UInt16(free) : nil
        }
    }

    private let state = Mutex(State())
    /// Held while a store is added: its slots begin at the end of the last store's.
    final let adding = NSRecursiveLock()
    private let sharing = Atomic<Bool>(false)
    /// Whether an entity is in more than one store.
    final var hasSharedEntities: Bool { sharing.load(ordering: .relaxed) }
    final let queue = WorkQueue(label: "heartwood.coordinator")
    /// The commits to its stores, as far as this process knows.
    final let commits = ChangeCount()
    /// The contexts that merge other contexts' saves.
    final let followers = ContextFollowers()
    final let commitObservers = CommitObservers()

    public init(managedObjectModel model: NSManagedObjectModel) {
        model.makeImmutable()
        self.model = model
        super.init()
        ModelsInUse.note(model)
    }

    /// Makes a coordinator whose model has no entities, and so no objects.
    public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

    /// Makes a coordinator without listing its model, so that classes do not find their entities in it; a model that was listed before
    /// stays listed.
    package convenience init(unlisted model: NSManagedObjectModel) {
        let isListed = ModelsInUse.has(model)
        self.init(managedObjectModel: model)
        if !isListed { ModelsInUse.forget(model) }
    }

    /// The added stores, in the order of adding.
    open var persistentStores: [NSPersistentStore] { state.withLock { $0.stores } }

    /// The store at `url`, if it was added.
    open func persistentStore(for url: URL) -> NSPersistentStore? {
        persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
    }

    /// Returns the runtime for new objects of `entity`, of the store that will hold them; if there is none, a runtime whose objects cannot
    /// be saved.
    final func runtime(for entity: NSEntityDescription) -> EntityRuntime {
        state.withLock { state in
            if let known = state.routes.forInsertion(of: entity) { return known }
            if let own = ownEntity(for: entity).flatMap(state.routes.forInsertion) { return own }
            let slot = UInt16.max - 1 - state.storelessCount
            state.storelessCount += 1
            let made = EntityRuntime(entity: entity, slot: slot, store: nil, accesses: [])
            state.routes.keep(storeless: made)
            return made
        }
    }

    /// The runtimes of the entity in each store that holds it, in the order of adding.
    final func runtimes(of entity: NSEntityDescription) -> [EntityRuntime] {
        state.withLock { $0.routes.all(of: ownEntity(for: entity) ?? entity) }
    }

    final func runtime(slot: UInt16) -> EntityRuntime? {
        state.withLock { Int(slot) < $0.runtimesBySlot.count ? $0.runtimesBySlot[Int(slot)] : nil }
    }

    // MARK: Adding and removing

    /// Opens the store at `url` and adds it.
    /// - Parameters:
    ///   - storeType: `NSRecordLogStoreType`, `NSInMemoryStoreType`, or a registered type.
    ///   - configuration: the model configuration whose entities the store holds; nil for all.
    ///   - url: a store of a built-in type at `/dev/null`, or at a path below it, is in memory. Each one is a store of its own.
    ///   - options: `NSMigratePersistentStoresAutomaticallyOption`, `NSInferMappingModelAutomaticallyOption` and
    ///     `NSPersistentStoreStagedMigrationManagerOptionKey` migrate a store of another version of the model first. The first of them also
    ///     converts an SQLite store at the URL of a record log; the old file stays under a name like `App.sqlite-original`.
    /// - Throws: 134000 for a type without a class, 134080 if the file cannot be opened (the cause under `NSUnderlyingErrorKey`), 134100 if
    ///   the store was made with another model. No file is created then. A migration throws 134130 if the store's model is not found,
    ///   134140 if there is no mapping, 134110 and 134111 if the store's contents do not fit the model; the store is then unchanged.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at url: URL?, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        adding.lock()
        defer { adding.unlock() }
        let configuration = configuration == NSManagedObjectModel.defaultConfigurationName ? nil : configuration
        let isNowhere = url.map(NSPersistentStore.isNowhere) ?? false
        let storeClass = try StoreClasses.storeClass(for: StoreClasses.type(storeType, at: url))
        try NSPersistentStore.checkPast(options, for: storeClass, url)
        if let configuration, managedObjectModel.entities(forConfigurationName: configuration) == nil {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The model has no configuration named \"\(configuration)\"; it has \(managedObjectModel.configurations.sorted()).")
        }
        if let url, !isNowhere, storeType != NSInMemoryStoreType, persistentStore(for: url) != nil {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "A store at \(url.path) was added to this coordinator already.")
        }
        func opened() throws -> NSPersistentStore {
            let store = storeClass.init(
                persistentStoreCoordinator: self, configurationName: configuration, at: url ?? NSPersistentStore.nowhere, options: options, ())
            try attach(store)
            return store
        }
        do {
            let store = try opened()
            guard let url, !isNowhere, try finishStages(of: store, at: url) else { return store }
            return try opened()
        } catch {
            guard let url, !isNowhere else { throw error }
            let end = MigrationEnd(url: url, type: storeType, options: options, configuration: configuration)
            if try convert(end, after: error) {
                // The store may be of another version of the model.
                return try addPersistentStore(ofType: storeType, configurationName: configuration, at: url, options: options)
            }
            guard try migrate(end, after: error) else { throw error }
            return try opened()
        }
    }

    /// Opens a store and adds it.
    /// - Parameters:
    ///   - old: a store to remove once the new one is open.
    ///   - moved: the new store's objects, if it has the old one's contents.
    final func attach(_ store: NSPersistentStore, inPlaceOf old: NSPersistentStore? = nil, _ moved: MovedObjects = .sameRows) throws {
        adding.lock()
        defer { adding.unlock() }
        let firstSlot = state.withLock { $0.freeSlot() }
        guard let firstSlot else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The coordinator has no room for another store; remove one, reset() the contexts that know objects of removed ones, or use a "
                    + "second coordinator.")
        }
        let runtimes = try store.seam.load(model: managedObjectModel, firstSlot: firstSlot)
        store.traits = store.seam.traitsOfRows
        // A store that is converted keeps its identifier.
        if let other = persistentStores.first(where: { $0 !== old && !$0.identifier.isEmpty && $0.identifier == store.identifier }) {
            try? store.seam.unload()
            throw CoreDataError.sameStore(store, other)
        }
        var change: [AnyHashable: Any] = [NSAddedPersistentStoresKey: [store]]
        let index = old.flatMap { old in persistentStores.firstIndex { $0 === old } }
        // A failure to write while closing concerns only the old store's file.
        if let old { try? detach(old) }
        adopt(store, runtimes, at: index)
        if let old {
            change[NSRemovedPersistentStoresKey] = [old]
            let ids = MigratedIDs.of(moved, from: old, to: store, in: self)
            change[NSUUIDChangedPersistentStoresKey] = [old, store, ids] as [Any]
        }
        store.didAdd(to: self)
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
    }

    /// - Parameter index: the index among the stores; nil for the end.
    private func adopt(_ store: NSPersistentStore, _ runtimes: [EntityRuntime], at index: Int? = nil) {
        state.withLock { state in
            let later = index.map { Array(state.stores.dropFirst($0)) } ?? []
            for runtime in runtimes {
                state.routes.add(runtime, before: later)
                let slot = Int(runtime.slot)
                while state.runtimesBySlot.count <= slot { state.runtimesBySlot.append(nil) }
                state.runtimesBySlot[slot] = runtime
            }
            sharing.store(state.routes.hasSharedEntities, ordering: .relaxed)
            state.nextSlot = max(state.nextSlot, State.slots(of: store).upperBound)
            state.stores.insert(store, at: state.stores.count - later.count)
        }
    }

    /// Makes a coordinator that reads one store of another coordinator, which keeps the store.
    convenience init(reading store: NSPersistentStore, of other: NSPersistentStoreCoordinator) {
        self.init(managedObjectModel: other.managedObjectModel)
        adopt(store, other.state.withLock { state in state.runtimesBySlot.compactMap { $0?.store === store ? $0 : nil } })
    }

    /// The modern spelling of `addPersistentStore(ofType:configurationName:at:options:)`.
    @discardableResult
    open func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: url, options: options)
    }

    final func addPersistentStore(_ description: NSPersistentStoreDescription) throws {
        try adoptNeighbor(of: description)
        try addPersistentStore(
            ofType: description.type, configurationName: description.configuration, at: description.url, options: description.options)
    }

    /// Adds the store that `description` describes, and calls `block` when it is open: before this returns, or on another thread if the
    /// description asks for that.
    open func addPersistentStore(
        with description: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        func add() {
            do {
                try addPersistentStore(description)
                block(description, nil)
            } catch {
                block(description, error)
            }
        }
        guard description.shouldAddStoreAsynchronously else { return add() }
        struct Work: @unchecked Sendable {
            // Unchecked: the block is moved to the other thread and not used here again.
            let run: () -> Void
        }
        let work = Work(run: add)
        DispatchQueue.global().async { work.run() }
    }

    // MARK: Work

    /// Executes a request with the merge policy and author of a context.
    /// - Returns: an array of the results for a fetch request; for other requests their `NSPersistentStoreResult`.
    /// - Throws: as `NSManagedObjectContext.execute(_:)`.
    /// - Precondition: this is the context's coordinator.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        try answer(request, for: context)
    }

    /// Runs `block` on the coordinator's queue, later.
    open func perform(_ block: sending @escaping () -> Void) { queue.async(block) }

    /// The overridable form of `performAndWait(_:)`, which the generic one calls; override this one in a subclass.
    open func performAndWait(_ block: () -> Void) { queue.sync(block) }

    /// Removes a store: its objects can no longer be read or saved.
    open func remove(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(where: { $0 === store }) else { throw CoreDataError.unknownStore() }
        let change: [AnyHashable: Any] = [NSRemovedPersistentStoresKey: [store]]
        try detach(store)
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
    }

    /// Removes the store at `url` with its contents, and from this coordinator if it was added. Does nothing if there is no file, or not even
    /// its folder. A record log leaves an empty file with its permissions, for programs that remove it themselves; added again, it is a new
    /// store. Stores in memory stay, also those at `/dev/null`: `remove(_:)` them. Removes only regular files and links to them.
    ///
    /// Stores of other types have their file open only while they save, so other users of the file cannot be detected. The file of a
    /// registered type is removed without a look at its contents.
    /// - Parameters:
    ///   - url: the store's file.
    ///   - storeType: the type of the store there.
    ///   - options: the options for opening the store; `NSPersistentStoreForceDestroyOption` removes it even if it is in use.
    /// - Throws: 134070 for a record log that is open for writing elsewhere in this process, or in another one as far as the system can
    ///   tell, and if the store was added with another type; an error if the file is no store of this type; 134000 for a type without a
    ///   class. Nothing is removed then, except that the coordinator may lose the store if another writer begins at the same moment.
    open func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        try performDestruction(at: url, ofType: storeType, options)
    }

    private func detach(_ store: NSPersistentStore) throws {
        announce(.NSPersistentStoreCoordinatorWillRemoveStore)
        let isKnown = state.withLock { state in
            guard let index = state.stores.firstIndex(where: { $0 === store }) else { return false }
            state.stores.remove(at: index)
            state.retire(store)
            state.routes.remove(store)
            sharing.store(state.routes.hasSharedEntities, ordering: .relaxed)
            return true
        }
        guard isKnown else { throw CoreDataError.unknownStore() }
        store.willRemove(from: self)
        defer { store.persistentStoreCoordinator = nil }
        try store.seam.unload()
    }

    // MARK: Metadata and IDs

    /// Returns a store's metadata.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Replaces the client's part of a store's metadata: at once in a record log and a binary store, with the next save in others. If a
    /// store cannot write at once, the next save tries again and throws.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        do { try store.seam.setMetadata(metadata ?? [:]) } catch { store.metadata = metadata ?? [:] }
    }

    /// Returns the ID that a URI's text names, as `managedObjectID(forURIRepresentation:)` does.
    public final func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap(managedObjectID(forURIRepresentation:))
    }

    /// Returns the ID that a URI names, if its store was added; does not check whether the object exists.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let parts = NSManagedObjectID.parts(of: url), let store = persistentStores.first(where: { $0.isNamed(parts.store) }),
            let entity = managedObjectModel.entitiesByName[parts.entity], let found = runtime(of: entity, in: store),
            let key = store.seam.key(named: String(parts.object.dropFirst()), of: found)
        else { return nil }
        return NSManagedObjectID(entity: entity, key: key, store: store, contextToken: 0)
    }

    /// The key in this coordinator of an ID that names an object of `store`, even if another coordinator made the ID.
    final func key(of id: NSManagedObjectID, in store: NSPersistentStore) -> ObjectKey? {
        guard let entity = id.entity.name.flatMap({ managedObjectModel.entitiesByName[$0] }), let found = runtime(of: entity, in: store)
        else { return nil }
        return store.seam.key(named: id.nameInStore, of: found)
    }

    private func runtime(of entity: NSEntityDescription, in store: NSPersistentStore) -> EntityRuntime? {
        runtimes(of: entity).first { $0.store === store }
    }
}
