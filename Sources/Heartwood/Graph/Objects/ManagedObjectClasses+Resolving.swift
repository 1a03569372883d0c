extension ManagedObjectClasses {
    /// The class of an entity's objects: that which the model names, and `NSManagedObject` where none is found.
    static func resolve(_ entity: NSEntityDescription) -> NSManagedObject.Type {
        let name = entity.managedObjectClassName ?? ""
        guard !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
        if let known = noted(name) as? NSManagedObject.Type { return known }
        let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
        // A module that is stated is the class's own.
        if let found = bare.contains(".") ? stated(bare, as: NSManagedObject.self) : find(bare, as: NSManagedObject.self) {
            note(found)
            return found
        }
        return noted(shortName(bare)) as? NSManagedObject.Type ?? NSManagedObject.self
    }
}
