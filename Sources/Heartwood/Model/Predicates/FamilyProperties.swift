import Foundation

/// What keys mean of the objects of a fetch, which may be of any entity of a family: a key may be one that only a subentity has, and
/// siblings may have properties of one name. All of a model in use.
extension NSEntityDescription {
    /// Whether this entity has the property, or one whose objects are asked with its own: one that shares an ancestor with it, or that
    /// a relationship leads to which has the name of one that leads here. Where that one has it, it is null here.
    func isKnownInFamily(_ name: String) -> Bool {
        root.familyProperty(name) != nil || isKnownToNamesakes(name)
    }

    fileprivate var root: NSEntityDescription {
        var root = self
        while let above = root.superentity { root = above }
        return root
    }

    private func isKnownToNamesakes(_ name: String) -> Bool {
        guard let model, model.hasNamesakes else { return false }
        for entity in model.entities {
            for case let relationship as NSRelationshipDescription in entity.statedProperties {
                guard let destination = relationship.destinationEntity, isKindOf(entity: destination) else { continue }
                let namesakes = [entity.root].destinations(of: relationship.name)
                if namesakes.count > 1, namesakes.contains(where: { $0.familyProperty(name) != nil }) { return true }
            }
        }
        return false
    }

    /// The property of this entity, or the first one below it.
    func familyProperty(_ name: String) -> NSPropertyDescription? {
        if let index = propertyIndexByName[name] { return frozenProperties[index] }
        return subentities.lazy.compactMap { $0.familyProperty(name) }.first
    }

    /// The properties of this entity, or of those below it where it has none: of siblings each has its own.
    func familyProperties(_ name: String) -> [NSPropertyDescription] {
        if let index = propertyIndexByName[name] { return [frozenProperties[index]] }
        return subentities.flatMap { $0.familyProperties(name) }
    }
}

extension NSManagedObjectModel {
    /// Whether siblings have relationships of one name to different entities, once the entities are frozen.
    func findNamesakes() -> Bool {
        entities.contains { entity in
            entity.statedProperties.contains { $0 is NSRelationshipDescription && [entity.root].destinations(of: $0.name).count > 1 }
        }
    }
}

extension [NSEntityDescription] {
    /// Where the relationships of a name lead, each entity once.
    func destinations(of name: String) -> [NSEntityDescription] {
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
