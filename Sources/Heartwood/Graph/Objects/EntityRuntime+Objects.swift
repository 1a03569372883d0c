import Synchronization

/// What the object graph asks of an entity's runtime.
extension EntityRuntime {
    /// nil once the store was removed and is gone; objects may outlive it.
    var store: NSPersistentStore? { holder.map { unsafeDowncast($0, to: NSPersistentStore.self) } }

    /// Whether objects are of NSManagedObject itself, which overrides nothing.
    var isPlainClass: Bool { objectClass == NSManagedObject.self }

    /// The class of the entity's objects.
    var objectClass: NSManagedObject.Type {
        let known = resolvedClass.load(ordering: .relaxed)
        if known != 0 { return unsafeBitCast(known, to: NSManagedObject.Type.self) }
        let found = ManagedObjectClasses.resolve(entity)
        resolvedClass.store(unsafeBitCast(found, to: UInt.self), ordering: .relaxed)
        return found
    }
}
