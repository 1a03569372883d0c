import Foundation

/// Key paths into composite attributes, whose elements have columns named by the whole path.
extension NSEntityDescription {
    /// The keys with those that lead into a composite joined: "home", "address", "city" become "home", "address.city".
    func joiningComposites(_ keys: [String]) -> [String] {
        managedObjectModel?.hasComposites == true ? Self.join(keys, owner: self, model: managedObjectModel) : keys
    }

    /// - Parameter owner: nil where it is not known whose keys they are. A key is then taken for a composite's where the model has it as
    ///   nothing else.
    fileprivate static func join(_ keys: [String], owner: NSEntityDescription?, model: NSManagedObjectModel?) -> [String] {
        var result: [String] = [], owner = owner, place = 0
        while place < keys.count {
            var name = keys[place]
            let known = owner ?? model?.entity(ofCompositeAlone: name)
            let property = known?.familyProperty(name)
            if property is NSCompositeAttributeDescription {
                while place + 1 < keys.count, known?.familyProperty("\(name).\(keys[place + 1])") != nil {
                    place += 1
                    name += ".\(keys[place])"
                }
            }
            result.append(name)
            if !name.hasPrefix("@"), name.lowercased() != "self" { owner = (property as? NSRelationshipDescription)?.destinationEntity }
            place += 1
        }
        return result
    }

    /// A property that values are kept of, an element of a composite by its path among them.
    func keptProperty(_ name: String) -> NSPropertyDescription? {
        isFrozen ? propertyIndexByName[name].map { frozenProperties[$0] } : propertiesByName[name]
    }
}

extension NSManagedObjectModel {
    /// An entity with a composite of this name, where no entity has another property of it.
    fileprivate func entity(ofCompositeAlone name: String) -> NSEntityDescription? {
        let owners = entities.filter { $0.propertyIndexByName[name] != nil }
        guard owners.allSatisfy({ $0.keptProperty(name) is NSCompositeAttributeDescription }) else { return nil }
        return owners.first
    }
}

extension PredicateNode {
    /// With the key paths into composites in the form that stores and objects know; see `joiningComposites(_:)`.
    func joiningComposites(of entity: NSEntityDescription) -> PredicateNode {
        entity.managedObjectModel?.hasComposites == true ? rewriting { expression, _ in expression.joiningOwnComposites(of: entity) } : self
    }
}

extension ExpressionNode {
    /// The same for an expression.
    func joiningComposites(of entity: NSEntityDescription) -> ExpressionNode {
        guard entity.managedObjectModel?.hasComposites == true else { return self }
        return rewriting(bound: []) { expression, _ in expression.joiningOwnComposites(of: entity) }
    }

    fileprivate func joiningOwnComposites(of entity: NSEntityDescription) -> ExpressionNode {
        let model = entity.managedObjectModel
        return switch self {
        case .keyPath(let keys): .keyPath(NSEntityDescription.join(keys, owner: entity, model: model))
        case .path(let base, let keys): .path(base, NSEntityDescription.join(keys, owner: nil, model: model))
        default: self
        }
    }
}
