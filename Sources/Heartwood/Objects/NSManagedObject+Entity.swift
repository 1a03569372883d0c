import Foundation

extension NSManagedObject {
    static func entityInUse() -> NSEntityDescription {
        ManagedObjectClasses.note(self)
        guard let entity = ModelsInUse.entity(forClass: self) else {
            preconditionFailure(
                "No entity of a model in use names the class \(String(reflecting: self)). Set managedObjectClassName in the "
                    + "model, and make the coordinator or container before asking for the entity.")
        }
        return entity
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
