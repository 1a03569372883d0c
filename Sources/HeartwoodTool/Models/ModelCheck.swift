import Heartwood

/// Finds parts of a model that are allowed and seldom intended.
struct ModelCheck {
    struct Warning: Equatable {
        /// "Entity" or "Entity.property".
        let element: String
        let text: String

        var line: String { "\(element): \(text)" }
    }

    private var warnings: [Warning] = []

    static func warnings(_ loaded: LoadedModel) -> [Warning] {
        var check = ModelCheck()
        check.warnings = loaded.model.warnings.map { Warning(element: $0.element, text: $0.text) }
        for entity in loaded.entities { check.look(at: entity) }
        check.findDenyRings(loaded.entities)
        check.findSharedClasses(loaded.entities)
        return check.warnings
    }

    private mutating func warn(_ entity: NSEntityDescription, _ property: NSPropertyDescription?, _ text: String) {
        warnings.append(Warning(element: entity.title + (property.map { ".\($0.name)" } ?? ""), text: text))
    }

    private mutating func look(at entity: NSEntityDescription) {
        if entity.isAbstract, entity.subentities.isEmpty {
            warn(entity, nil, "is abstract, and no entity inherits from it: it can have no objects")
        }
        for property in entity.ownProperties {
            switch property {
            case let attribute as NSAttributeDescription: look(at: attribute, entity)
            case let relationship as NSRelationshipDescription: look(at: relationship, entity)
            default: break
            }
        }
    }

    private mutating func look(at attribute: NSAttributeDescription, _ entity: NSEntityDescription) {
        if attribute is NSDerivedAttributeDescription { return }
        if attribute.attributeType == .undefinedAttributeType, !attribute.isTransient {
            warn(entity, attribute, "has no type, so it is not stored")
        }
    }

    private mutating func look(at relationship: NSRelationshipDescription, _ entity: NSEntityDescription) {
        let destination = relationship.destinationEntity?.title ?? "?"
        if relationship.isTransient { return }
        guard let inverse = relationship.inverseRelationship else {
            return warn(entity, relationship, "has no inverse: a deleted \(destination) is not removed from it")
        }
        switch relationship.deleteRule {
        case .nullifyDeleteRule where !inverse.isOptional && !inverse.isToMany:
            warn(
                entity, relationship,
                "nullifies \(destination).\(inverse.name), which is required: deleting a \(entity.title) that has any cannot be saved; "
                    + "Cascade or Deny is meant")
        case .noActionDeleteRule:
            warn(
                entity, relationship,
                "does nothing when a \(entity.title) is deleted: \(destination).\(inverse.name) goes on pointing at it")
        case .denyDeleteRule where inverse.deleteRule == .denyDeleteRule && relationship.isDrawn:
            warn(
                entity, relationship,
                "denies, and so does its inverse \(destination).\(inverse.name): neither side can be deleted while they are connected")
        default: break
        }
    }

    /// Finds cycles of required relationships with the deny rule: each object can be deleted only after the next one, and so none can.
    private mutating func findDenyRings(_ entities: [NSEntityDescription]) {
        let edges = Dictionary(uniqueKeysWithValues: entities.map { entity in
            (ObjectIdentifier(entity), entity.properties.compactMap { $0 as? NSRelationshipDescription }.filter {
                $0.deleteRule == .denyDeleteRule && !$0.isOptional && !$0.isTransient && $0.destinationEntity != nil
            })
        })
        var reported: Set<Set<String>> = []
        for start in entities {
            // The shortest way back, breadth first.
            var ways: [(entity: NSEntityDescription, path: [NSRelationshipDescription])] = [(start, [])]
            var seen: Set<ObjectIdentifier> = []
            var next = 0
            while next < ways.count {
                let way = ways[next]
                next += 1
                for edge in edges[ObjectIdentifier(way.entity)] ?? [] {
                    guard let destination = edge.destinationEntity else { continue }
                    let path = way.path + [edge]
                    if destination === start {
                        let names = path.map { "\($0.holder?.title ?? "?").\($0.name)" }
                        if reported.insert(Set(names)).inserted {
                            warn(
                                start, path[0],
                                "denies in a ring (\(names.joined(separator: ", "))), each required: none of them can ever be deleted")
                        }
                        next = ways.count
                        break
                    }
                    if seen.insert(ObjectIdentifier(destination)).inserted { ways.append((destination, path)) }
                }
            }
        }
    }

    private mutating func findSharedClasses(_ entities: [NSEntityDescription]) {
        let named = entities.filter { !["", "NSManagedObject"].contains($0.managedObjectClassName ?? "") }
        for (name, sharing) in Dictionary(grouping: named, by: { $0.managedObjectClassName ?? "" }).sorted(by: { $0.key < $1.key })
        where sharing.count > 1 {
            let others = sharing.dropFirst().map(\.title).joined(separator: ", ")
            warn(sharing[0], nil, "shares the class \(name) with \(others): entity() of it finds one of them")
        }
    }
}
