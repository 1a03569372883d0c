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

extension ManagedObjectClasses {
    /// The class of an entity's objects: the one that the model names, or `NSManagedObject` if it does not exist.
    static func resolve(_ entity: NSEntityDescription) -> NSManagedObject.Type {
        let name = entity.managedObjectClassName ?? ""
        guard !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
        if let known = noted(name) as? NSManagedObject.Type { return known }
        let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
        // A name with a module is the class's full name.
        if let found = bare.contains(".") ? named(bare, as: NSManagedObject.self) : find(bare, as: NSManagedObject.self) {
            note(found)
            return found
        }
        return noted(shortName(bare)) as? NSManagedObject.Type ?? NSManagedObject.self
    }
}
