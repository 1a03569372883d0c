import Foundation

extension NSManagedObject {
    /// The entity that names this class, in the models that coordinators of this process use.
    ///
    /// Where several models name the class, the model used last wins.
    /// - Precondition: a model that names the class is in use.
    public class func entity() -> NSEntityDescription {
        ManagedObjectClasses.note(self)
        guard let entity = ModelsInUse.entity(forClass: self) else {
            preconditionFailure(
                "No entity of a model in use names the class \(String(reflecting: self)). Set managedObjectClassName in the "
                    + "model, and make the coordinator or container before asking for the entity.")
        }
        return entity
    }

    /// A request for every object of this class's entity. A class's own function of this name, as it is generated, goes before it, so that
    /// `let request = Person.fetchRequest()` is one for persons.
    @_disfavoredOverload
    public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        ManagedObjectClasses.note(self)
        return NSFetchRequest(objectClass: self)
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
