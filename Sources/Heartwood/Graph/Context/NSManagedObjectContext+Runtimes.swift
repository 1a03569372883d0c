import RecordLog

// Runtimes, views and registered objects.

extension NSManagedObjectContext {
    /// Whether the program's own code may stand between a caller and what this library does.
    final var isSubclassed: Bool { type(of: self) != NSManagedObjectContext.self }

    /// What objects of `entity` need at run time.
    final func runtime(for entity: NSEntityDescription) -> EntityRuntime {
        if let known = runtimesByEntity[ObjectIdentifier(entity)], !known.isRetired { return known }
        guard let coordinator else {
            preconditionFailure("The context has no persistent store coordinator and no parent; set either before inserting objects.")
        }
        let made = coordinator.runtime(for: entity)
        guard let store = made.store else { return made }
        // A store that can be written may take a read-only one's place.
        if !store.isReadOnly, made.entity === entity { runtimesByEntity[ObjectIdentifier(entity)] = made }
        remember(made)
        return made
    }

    private final func remember(_ runtime: EntityRuntime) {
        if runtimesBySlot.contains(where: { $0?.isRetired == true }) { forgetRemovedStores() }
        if runtime.store is NSIncrementalStore, identities.observer == nil { identities.observer = RegistrationObserver() }
        let slot = Int(runtime.slot)
        while runtimesBySlot.count <= slot { runtimesBySlot.append(nil) }
        runtimesBySlot[slot] = runtime
    }

    /// Lets go of what is known of removed stores, so that their slots can be used again once nobody has an object of theirs.
    private final func forgetRemovedStores() {
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
    private final func findRuntime(slot: UInt16) -> EntityRuntime? {
        guard let found = coordinator?.runtime(slot: slot) else { return nil }
        remember(found)
        return found
    }

    /// The newest view of a store, or the one that the context is pinned to. The rows of objects stay valid as long as this context, or until
    /// `reset()`; others at least until the event ends.
    final func view(of store: NSPersistentStore) throws -> StoreView {
        if let lastView, lastView.slotBase == store.slotBase, lastView.view.isNewest || isPinned(on: store) { return lastView.view }
        let view = try generation?.view(of: store) ?? store.newestView(for: self)
        forgetRoute()
        if !views.isEmpty, views[store.slotBase] == nil { forgetRemovedStores() }
        view.keepRows(in: &memory)
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

    final func forgetViews() {
        // Its steps name rows, whose memory goes.
        recorder?.forget()
        dropped = []
        laterBatches = []
        forgetRoute()
        views = [:]
        lastView = nil
        memory = RowMemory()
        runtimesBySlot = []
        runtimesByEntity = [:]
        entitiesByClass = [:]
    }

    // MARK: Registration

    final func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        usesPlainObjects ? NSManagedObject.self : runtime(for: entity).objectClass
    }

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
    private final func makeFault(_ key: ObjectKey) -> NSManagedObject? {
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

    /// Lets go of unchanged objects that nobody refers to, when enough have gathered.
    @inline(__always)
    final func sweepIfWanted() {
        if identities.wantsSweep { identities.sweep() }
    }
}
