/// The entity that a context was asked for last by its name: a program asks for few, one after the other.
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
    /// - Parameter work: what the context is about to do.
    final func entity(named name: String, before work: String = "executing requests") throws -> NSEntityDescription {
        guard let model = coordinator?.model else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The context has no coordinator; set it before \(work).")
        }
        if let named, named.name == name, named.model === model { return named.entity }
        guard let entity = model.entitiesByName[name] else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The model has no entity named \"\(name)\"; it has \(model.entitiesByName.keys.sorted().joined(separator: ", ")).")
        }
        // Until it is frozen it may get another name.
        if entity.isFrozen { named = NamedEntity(name, model, entity) }
        return entity
    }
}

extension NSPersistentStoreCoordinator {
    /// The model's own entity in the place of an equal one of another copy of the model.
    ///
    /// A program that loads its model twice, as its tests do, gets such a copy from its classes: `entity()` has no context to ask.
    /// - Returns: `entity` itself where the model has none of its name and version.
    final func ownEntity(for entity: NSEntityDescription) -> NSEntityDescription {
        guard entity.model !== model, let name = entity.name, let own = model.entitiesByName[name], own.versionHash == entity.versionHash
        else { return entity }
        return own
    }
}
