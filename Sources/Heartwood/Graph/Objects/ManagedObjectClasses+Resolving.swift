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
