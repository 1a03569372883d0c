import RecordLog

// Runtimes, views and registered objects.

extension NSManagedObjectContext {
    /// Whether the class is a subclass, whose overrides this library must call.
    final var isSubclassed: Bool { type(of: self) != NSManagedObjectContext.self && mayOverride }

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

    @discardableResult
    private final func remember(_ runtime: EntityRuntime) -> EntityInContext {
        if cache.entitiesBySlot.contains(where: { $0?.runtime.isRetired == true }) { forgetRemovedStores() }
        if identities.observer == nil, runtime.store?.seam.registrationStore != nil { identities.observer = RegistrationObserver() }
        let slot = Int(runtime.slot)
        while cache.entitiesBySlot.count <= slot { cache.entitiesBySlot.append(nil) }
        if let known = cache.entitiesBySlot[slot], known.runtime === runtime { return known }
        let made = EntityInContext(runtime)
        cache.entitiesBySlot[slot] = made
        return made
    }

    /// Drops the views and runtimes of removed stores. Their slots can be used again when no object refers to them.
    private final func forgetRemovedStores() {
        let stores = (coordinator?.persistentStores ?? []).map(\.slotBase), known = readState.views.count
        readState.views.removeAll { slotBase, _ in !stores.contains(slotBase) }
        var isAny = readState.views.count < known
        for slot in cache.entitiesBySlot.indices where cache.entitiesBySlot[slot]?.runtime.isRetired == true {
            cache.entitiesBySlot[slot] = nil
            isAny = true
        }
        guard isAny else { return }
        cache.runtimesByEntity.update { !$0.isRetired }
        dropCachedPlan()
        readState.lastView = nil
        identities.wantSweep()
    }

    @inline(__always)
    final func runtime(slot: UInt16) -> EntityRuntime? { entity(slot: slot)?.runtime }

    @inline(__always)
    final func entity(slot: UInt16) -> EntityInContext? { entity(known: slot) ?? findEntity(slot: slot) }

    /// The entity of a slot, if this context has used it.
    @inline(__always)
    final func entity(known slot: UInt16) -> EntityInContext? {
        let index = Int(slot)
        return index < cache.entitiesBySlot.count ? cache.entitiesBySlot[index] : nil
    }

    @inline(never)
    private final func findEntity(slot: UInt16) -> EntityInContext? {
        coordinator?.runtime(slot: slot).map(remember)
    }

    /// Returns what this context's objects of a runtime refer to.
    final func entity(of runtime: EntityRuntime) -> EntityInContext {
        if let known = entity(known: runtime.slot), known.runtime === runtime { return known }
        // The provisional runtime of objects without a store has no slot of its own.
        guard runtime.store != nil, !runtime.isRetired else { return EntityInContext(runtime) }
        return remember(runtime)
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

    /// The view by which this context has read a store last. A store whose views copy rows goes on with the copies of that view.
    package final func knownView(of store: NSPersistentStore) -> (any StoreView)? { readState.views[store.slotBase] }

    /// Reads a store by this view from now on.
    final func take(_ view: any StoreView, of store: NSPersistentStore) {
        dropCachedPlan()
        view.keepRows(in: &readState.memory)
        readState.views[store.slotBase] = view
        readState.lastView = LastView(store.slotBase, view)
    }

    /// The view of a runtime's store. Mostly avoids the runtime's weak reference to the store.
    @inline(__always)
    final func view(of runtime: EntityRuntime) throws -> any StoreView {
        if let lastView = lastView(of: runtime) { return lastView.view }
        return try view(of: store(of: runtime))
    }

    /// The last view, if it is the one to read a runtime's store by.
    @inline(__always)
    final func lastView(of runtime: EntityRuntime) -> LastView? {
        guard let lastView = readState.lastView, lastView.slotBase == runtime.slotBase, !runtime.isRetired,
            lastView.view.isNewest || readState.generation != nil
        else { return nil }
        return lastView
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
        cache.entitiesBySlot = []
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
        guard !current.isTemporary || parentContext != nil, let entity = entity(slot: current.slot) else { return nil }
        sweepIfNeeded()
        return makeFault(current, entity)
    }

    final func makeFault(_ key: ObjectKey, runtime: EntityRuntime) -> NSManagedObject { makeFault(key, entity(of: runtime)) }

    @inline(__always)
    private final func makeFault(_ key: ObjectKey, _ entity: EntityInContext) -> NSManagedObject {
        makeFault(key, .passRetained(entity), .passRetained(entity.runtime.entity), .passRetained(self))
    }

    /// Consumes a reference to each argument except `key`.
    @inline(__always)
    final func makeFault(
        _ key: ObjectKey, _ entity: Unmanaged<EntityInContext>, _ description: Unmanaged<NSEntityDescription>,
        _ context: Unmanaged<NSManagedObjectContext>
    ) -> NSManagedObject {
        // Initializers of subclasses run too, so the key and the entity are passed in a property of the context.
        making.faultInMaking = (key, entity)
        let objectClass = making.usesPlainObjects ? NSManagedObject.self : entity._withUnsafeGuaranteedRef { $0.runtime.objectClass }
        let object = objectClass.init(entity: description.takeRetainedValue(), insertInto: context.takeRetainedValue())
        precondition(making.faultInMaking.entity == nil, "an initializer of an object's class hands over the context that it is given")
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
