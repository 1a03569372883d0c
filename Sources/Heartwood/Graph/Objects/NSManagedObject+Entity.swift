import Foundation

extension NSManagedObject {
    /// One without a name where no model in use names the class.
    static func entityInUse() -> NSEntityDescription {
        // Entities without a class of their own name NSManagedObject, each of them.
        guard self != NSManagedObject.self else { return NSEntityDescription() }
        ManagedObjectClasses.note(self)
        return ModelsInUse.entity(forClass: self) ?? NSEntityDescription()
    }

    /// This class's entity in the model of one context.
    static func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        if let known = context.entitiesByClass[ObjectIdentifier(self)] { return known }
        ManagedObjectClasses.note(self)
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        guard let entity = ModelsInUse.entity(forClass: self, among: entities) else {
            preconditionFailure(
                "No entity of the context's model names the class \(String(reflecting: self)); set managedObjectClassName "
                    + "in the model to it.")
        }
        context.entitiesByClass[ObjectIdentifier(self)] = entity
        return entity
    }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    /// The class's `fetchRequest()` as a request for its objects, so that generic code may say `T.fetchRequest() as? NSFetchRequest<T>`:
    /// off Apple's platforms a request for `any NSFetchRequestResult` is of another class, and such a cast would fail.
    public static func fetchRequest() -> NSFetchRequest<Self> {
        let request: NSFetchRequest<any NSFetchRequestResult> = (self as NSManagedObject.Type).fetchRequest()
        return request.twin(as: Self.self)
    }
}
