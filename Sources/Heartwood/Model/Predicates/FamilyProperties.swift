import Foundation

/// The properties that keys name for the objects of a fetch. These may be of any entity of a family: only a subentity may have a key, and
/// siblings may have properties with the same name. For entities of a model in use.
extension NSEntityDescription {
    /// Whether this entity, or one whose objects may be in the same fetch, has the property. These are the entities that share an ancestor with
    /// it. They are also the destinations of relationships that have the name of one to this entity. An object without the property reads null.
    func isKnownInFamily(_ name: String) -> Bool {
        root.familyProperty(name) != nil || isKnownToNamesakes(name)
    }

    /// The ancestor without a superentity, which may be the entity itself.
    package final var root: NSEntityDescription {
        var root = self
        while let above = root.superentity { root = above }
        return root
    }

    private func isKnownToNamesakes(_ name: String) -> Bool {
        guard let model, model.hasNamesakes else { return false }
        for entity in model.entities {
            for case let relationship as NSRelationshipDescription in entity.declaredProperties {
                guard let destination = relationship.destinationEntity, isKindOf(entity: destination) else { continue }
                let namesakes = [entity.root].destinations(of: relationship.name)
                if namesakes.count > 1, namesakes.contains(where: { $0.familyProperty(name) != nil }) { return true }
            }
        }
        return false
    }

    /// The property of this entity, or of the first subentity that has it.
    func familyProperty(_ name: String) -> NSPropertyDescription? {
        if let index = propertyIndexByName[name] { return propertiesByIndex[index] }
        return subentities.lazy.compactMap { $0.familyProperty(name) }.first
    }

    /// The property of this entity; if it has none, those of its subentities, where each sibling has its own.
    package func familyProperties(_ name: String) -> [NSPropertyDescription] {
        if let index = propertyIndexByName[name] { return [propertiesByIndex[index]] }
        return subentities.flatMap { $0.familyProperties(name) }
    }
}

extension NSManagedObjectModel {
    /// Whether siblings have relationships with the same name to different entities. Call it once the entities are immutable.
    func findNamesakes() -> Bool {
        entities.contains { entity in
            entity.declaredProperties.contains { $0 is NSRelationshipDescription && [entity.root].destinations(of: $0.name).count > 1 }
        }
    }
}

extension [NSEntityDescription] {
    /// The destinations of the relationships with a name, each entity once.
    package func destinations(of name: String) -> [NSEntityDescription] {
        var result: [NSEntityDescription] = []
        for owner in self {
            for case let relationship as NSRelationshipDescription in owner.familyProperties(name) {
                guard let destination = relationship.destinationEntity, !result.contains(where: { $0 === destination }) else { continue }
                result.append(destination)
            }
        }
        return result
    }
}
