import Synchronization

/// The parts of an entity's runtime that only the object graph uses.
extension EntityRuntime {
    /// nil once the store was removed and released; objects may outlive it.
    var store: NSPersistentStore? { holder.map { unsafeDowncast($0, to: NSPersistentStore.self) } }

    /// Whether the entity's objects are plain `NSManagedObject`s, which override nothing.
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
