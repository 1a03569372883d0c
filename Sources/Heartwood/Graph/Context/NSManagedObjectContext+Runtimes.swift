import RecordLog

// Runtimes, views and registered objects.

extension NSManagedObjectContext {
    /// Whether the class is a subclass, whose overrides this library must call.
    final var isSubclassed: Bool { type(of: self) != NSManagedObjectContext.self }

    /// Returns the runtime for new objects of `entity`.
    final func runtime(for entity: NSEntityDescription) -> EntityRuntime {
        if let known = cache.runtimesByEntity[entity], !known.isRetired { return known }
        guard let coordinator else {
            misuse("The context has no persistent store coordinator and no parent; set either before inserting objects.")
        }
        let made = coordinator.runtime(for: entity)
        guard let store = made.store else { return made }
        // Not cached for a read-only store, because a writable store added later takes precedence.
        if !store.isReadOnly, made.entity === entity { cache.runtimesByEntity[entity] = made }
        remember(made)
        return made
    }

    private final func remember(_ runtime: EntityRuntime) {
        if cache.runtimesBySlot.contains(where: { $0?.isRetired == true }) { forgetRemovedStores() }
        if identities.observer == nil, runtime.store?.seam.registrationStore != nil { identities.observer = RegistrationObserver() }
        let slot = Int(runtime.slot)
        while cache.runtimesBySlot.count <= slot { cache.runtimesBySlot.append(nil) }
        cache.runtimesBySlot[slot] = runtime
    }

    /// Drops the views and runtimes of removed stores. Their slots can be used again when no object refers to them.
    private final func forgetRemovedStores() {
        let stores = (coordinator?.persistentStores ?? []).map(\.slotBase), known = readState.views.count
        readState.views.removeAll { slotBase, _ in !stores.contains(slotBase) }
        var isAny = readState.views.count < known
        for slot in cache.runtimesBySlot.indices where cache.runtimesBySlot[slot]?.isRetired == true {
            cache.runtimesBySlot[slot] = nil
            isAny = true
        }
        guard isAny else { return }
        cache.runtimesByEntity.update { !$0.isRetired }
        dropCachedPlan()
        readState.lastView = nil
        identities.wantSweep()
    }

    @inline(__always)
    final func runtime(slot: UInt16) -> EntityRuntime? {
        let index = Int(slot)
        if index < cache.runtimesBySlot.count, let known = cache.runtimesBySlot[index] { return known }
        return findRuntime(slot: slot)
    }

    @inline(never)
    private final func findRuntime(slot: UInt16) -> EntityRuntime? {
        guard let found = coordinator?.runtime(slot: slot) else { return nil }
        remember(found)
        return found
    }

    /// The newest view of a store, or the view that the context is pinned to. Rows of registered objects stay valid as long as the context,
    /// or until `reset()`; other rows at least until the event ends.
    final func view(of store: NSPersistentStore) throws -> any StoreView {
        if let lastView = readState.lastView, lastView.slotBase == store.slotBase, lastView.view.isNewest || isPinned(on: store) {
            return lastView.view
        }
        // A context of several stores goes from one to the other and back. It keeps the view of each, with the rows that the view has read.
        let known = readState.views[store.slotBase].flatMap { $0.isNewest ? $0 : nil }
        let view = try readState.generation?.view(of: store) ?? known ?? store.seam.newestView(for: self)
        let former = readState.views[store.slotBase]
        if former !== view, former?.commit == nil || former?.commit != view.commit { beginEpoch() }
        if !readState.views.isEmpty, former == nil { forgetRemovedStores() }
        take(view, of: store)
        return view
    }

    /// Reads a store by this view from now on.
    final func take(_ view: any StoreView, of store: NSPersistentStore) {
        dropCachedPlan()
        view.keepRows(in: &readState.memory)
        readState.views[store.slotBase] = view
        readState.lastView = (store.slotBase, view)
    }

    /// The view of a runtime's store. Mostly avoids the runtime's weak reference to the store.
    @inline(__always)
    final func view(of runtime: EntityRuntime) throws -> any StoreView {
        if let lastView = readState.lastView, lastView.slotBase == runtime.slotBase, !runtime.isRetired,
            lastView.view.isNewest || readState.generation != nil
        { return lastView.view }
        return try view(of: store(of: runtime))
    }

    /// Called when the next read may use another commit than the last one.
    final func forgetLastView() { readState.lastView = nil }

    final func forgetViews() {
        // Undo steps name rows, whose memory is released here.
        recorder?.forget()
        pending.dropped = []
        queries.laterBatches = []
        dropCachedPlan()
        readState.views = StoreViews()
        readState.lastView = nil
        readState.memory = RowMemory()
        cache.runtimesBySlot = []
        cache.runtimesByEntity = IdentityTable()
        cache.entitiesByClass = [:]
    }

    // MARK: Registration

    final func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        making.usesPlainObjects ? NSManagedObject.self : runtime(for: entity).objectClass
    }

    final func nextTemporaryKey(slot: UInt16) -> ObjectKey {
        ObjectKey(slot: slot, row: tree.nextNumber() | ObjectKey.temporaryBit)
    }

    /// Makes the fault of an object that is not registered under this key.
    @inline(never)
    final func makeFault(_ key: ObjectKey) -> NSManagedObject? {
        let current = currentKey(key)
        if current != key, identities.reference(to: current) != nil { return object(for: current) }
        // An object without a row exists only in its own context, and for a child in its parent.
        guard !current.isTemporary || parentContext != nil, let runtime = runtime(slot: current.slot) else { return nil }
        sweepIfNeeded()
        return makeFault(current, runtime: runtime)
    }

    final func makeFault(_ key: ObjectKey, runtime: EntityRuntime) -> NSManagedObject {
        makeFault(key, .passRetained(runtime), .passRetained(runtime.entity), .passRetained(self))
    }

    /// Consumes a reference to each argument except `key`.
    @inline(__always)
    final func makeFault(
        _ key: ObjectKey, _ runtime: Unmanaged<EntityRuntime>, _ entity: Unmanaged<NSEntityDescription>,
        _ context: Unmanaged<NSManagedObjectContext>
    ) -> NSManagedObject {
        // Initializers of subclasses run too, so the key and the runtime are passed in a property of the context.
        making.faultInMaking = (key, runtime)
        let objectClass = making.usesPlainObjects ? NSManagedObject.self : runtime._withUnsafeGuaranteedRef { $0.objectClass }
        let object = objectClass.init(entity: entity.takeRetainedValue(), insertInto: context.takeRetainedValue())
        precondition(making.faultInMaking.runtime == nil, "an initializer of an object's class hands over the context that it is given")
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

    /// Releases unchanged objects that only the context refers to, once enough objects are registered.
    @inline(__always)
    final func sweepIfNeeded() {
        if identities.wantsSweep { identities.sweep() }
    }
}
