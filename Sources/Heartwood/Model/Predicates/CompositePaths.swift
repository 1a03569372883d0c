import Foundation

/// Key paths into composite attributes. The columns of the elements have the whole path as their name.
extension NSEntityDescription {
    /// Joins the keys that lead into a composite: "home", "address", "city" become "home", "address.city".
    func joiningComposites(_ keys: [String]) -> [String] {
        guard model?.hasComposites == true else { return keys }
        var result: [String] = [], owner: NSEntityDescription? = self, index = 0
        while index < keys.count {
            var name = keys[index]
            let property = owner?.familyProperty(name)
            if property is NSCompositeAttributeDescription {
                while index + 1 < keys.count, owner?.familyProperty("\(name).\(keys[index + 1])") != nil {
                    index += 1
                    name += ".\(keys[index])"
                }
            }
            result.append(name)
            if !name.hasPrefix("@"), name.lowercased() != "self" { owner = (property as? NSRelationshipDescription)?.destinationEntity }
            index += 1
        }
        return result
    }

    /// A property with stored values. An element of a composite is found by its path.
    func keptProperty(_ name: String) -> NSPropertyDescription? {
        isImmutable ? propertyIndexByName[name].map { propertiesByIndex[$0] } : propertiesByName[name]
    }
}

extension PredicateNode {
    /// Joins the key paths into composites, as stores expect them; see `NSEntityDescription.joiningComposites(_:)`. A path stays unchanged if the
    /// entity at its start is unknown; objects understand both forms.
    package func joiningComposites(of entity: NSEntityDescription) -> PredicateNode {
        guard entity.model?.hasComposites == true else { return self }
        let join = CompositeJoin(entity: entity)
        return rewriting(in: [:], entering: join.enter, join.joined)
    }
}

extension ExpressionNode {
    /// Joins the key paths into composites.
    func joiningComposites(of entity: NSEntityDescription) -> ExpressionNode {
        guard entity.model?.hasComposites == true else { return self }
        let join = CompositeJoin(entity: entity)
        return rewriting(in: [:], entering: join.enter, join.joined)
    }
}

/// Joins key paths. Each is resolved from the entity of the objects to which it is applied.
private struct CompositeJoin {
    /// The entities of the objects that subqueries' variables represent.
    typealias Variables = [String: NSEntityDescription]

    let entity: NSEntityDescription

    func enter(_ variables: Variables, _ variable: String, _ collection: ExpressionNode) -> Variables {
        var inner = variables
        inner[variable] = PredicatePaths.entity(of: collection, entity, variables)
        return inner
    }

    func joined(_ expression: ExpressionNode, _ variables: Variables) -> ExpressionNode {
        switch expression {
        case .keyPath(let keys): .keyPath(entity.joiningComposites(keys))
        case .path(let base, let keys):
            .path(base, PredicatePaths.entity(of: base, entity, variables)?.joiningComposites(keys) ?? keys)
        default: expression
        }
    }
}
