/// The entity that a context last looked up by name: a program uses few names, often repeatedly.
final class NamedEntity {
    let name: String
    let model: NSManagedObjectModel
    let entity: NSEntityDescription

    init(_ name: String, _ model: NSManagedObjectModel, _ entity: NSEntityDescription) {
        self.name = name
        self.model = model
        self.entity = entity
    }
}

extension NSManagedObjectContext {
    /// Returns the model's entity of this name.
    /// - Parameter work: the operation that the error message names.
    final func entity(named name: String, before work: String = "executing requests") throws -> NSEntityDescription {
        guard let model = coordinator?.model else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The context has no coordinator; set it before \(work).")
        }
        if let named = cache.named, named.name == name, named.model === model { return named.entity }
        guard let entity = model.entitiesByName[name] else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The model has no entity named \"\(name)\"; it has \(model.listedEntities).")
        }
        // An entity that is not immutable may still be renamed.
        if entity.isImmutable { cache.named = NamedEntity(name, model, entity) }
        return entity
    }
}

extension NSPersistentStoreCoordinator {
    /// Returns this model's entity for an entity of the model or of a copy of it.
    ///
    /// A program that loads its model twice, as tests do, gets an entity of the copy from its classes, because `entity()` has no context.
    /// - Returns: nil if the model has no entity of that name and version.
    final func ownEntity(for entity: NSEntityDescription) -> NSEntityDescription? {
        if entity.model === model { return entity }
        guard let own = entity.name.flatMap({ model.entitiesByName[$0] }), own.versionHash == entity.versionHash else { return nil }
        return own
    }
}

/// The runtimes and entities that a context has looked up.
struct RuntimeCache {
    /// Known entities, by the slot of their runtime.
    var entitiesBySlot: [EntityInContext?] = []
    var runtimesByEntity = IdentityTable<EntityRuntime>()
    /// The entity last looked up by name.
    var named: NamedEntity?
    /// The entity that names a class, by class.
    var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
}
