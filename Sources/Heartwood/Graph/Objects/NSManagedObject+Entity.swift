import Foundation

extension NSManagedObject {
    /// Returns an entity without a name if no model in use names the class.
    static func entityInUse() -> NSEntityDescription {
        // NSManagedObject itself stands for every entity without a class of its own.
        guard self != NSManagedObject.self else { return NSEntityDescription() }
        ManagedObjectClasses.note(self)
        return ModelsInUse.entity(forClass: self) ?? NSEntityDescription()
    }

    /// This class's entity in the model of one context.
    static func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        if let known = context.cache.entitiesByClass[ObjectIdentifier(self)] { return known }
        ManagedObjectClasses.note(self)
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        guard let entity = ModelsInUse.entity(forClass: self, among: entities) else {
            misuse(
                "No entity of the context's model names the class \(String(reflecting: self)); set managedObjectClassName "
                    + "in the model to it.")
        }
        context.cache.entitiesByClass[ObjectIdentifier(self)] = entity
        return entity
    }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    /// The class's `fetchRequest()` as a request for its objects, so that generic code may write `T.fetchRequest() as? NSFetchRequest<T>`. Except
    /// on Apple's platforms a request for `any NSFetchRequestResult` has another class, and such a cast would fail.
    public static func fetchRequest() -> NSFetchRequest<Self> {
        let request: NSFetchRequest<any NSFetchRequestResult> = (self as NSManagedObject.Type).fetchRequest()
        return request.duplicate(as: Self.self)
    }
}
