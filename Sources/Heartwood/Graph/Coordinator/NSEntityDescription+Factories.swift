import Foundation

extension NSEntityDescription {
    /// The entity of this name in the context's model; nil if the model has none.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext, fileID: StaticString = #fileID
    ) -> NSEntityDescription? {
        ManagedObjectClasses.note(fileID: fileID)
        return context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entityName]
    }

    /// The method without `fileID`, so that it can be used as a function value of two parameters.
    @_disfavoredOverload
    public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entityName]
    }

    /// Makes an object of the entity's class and inserts it.
    /// - Precondition: the context's model has an entity of this name. The message of a failure lists the entities.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext, fileID: StaticString = #fileID
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context, fileID: fileID) else {
            guard let model = context.persistentStoreCoordinator?.managedObjectModel else {
                misuse("A \(entityName) cannot be made: the context has no coordinator, or its coordinator is gone.")
            }
            misuse("The context's model has no entity named \"\(entityName)\"; it has \(model.listedEntities).")
        }
        return context.objectClass(of: entity).init(entity: entity, insertInto: context)
    }

    /// The method without `fileID`, so that it can be used as a function value of two parameters.
    @_disfavoredOverload
    public class func insertNewObject(forEntityName entityName: String, into context: NSManagedObjectContext) -> NSManagedObject {
        insertNewObject(forEntityName: entityName, into: context, fileID: "")
    }
}
