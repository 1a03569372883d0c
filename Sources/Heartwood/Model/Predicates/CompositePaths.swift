import Foundation

/// Key paths into composite attributes, whose elements have columns named by the whole path.
extension NSEntityDescription {
    /// The keys with those that lead into a composite joined: "home", "address", "city" become "home", "address.city".
    func joiningComposites(_ keys: [String]) -> [String] {
        guard model?.hasComposites == true else { return keys }
        var result: [String] = [], owner: NSEntityDescription? = self, place = 0
        while place < keys.count {
            var name = keys[place]
            let property = owner?.familyProperty(name)
            if property is NSCompositeAttributeDescription {
                while place + 1 < keys.count, owner?.familyProperty("\(name).\(keys[place + 1])") != nil {
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

extension PredicateNode {
    /// With the key paths into composites in the form that stores know; see `NSEntityDescription.joiningComposites(_:)`. A path of which
    /// nobody knows whose it is stays as it is: objects understand either form.
    func joiningComposites(of entity: NSEntityDescription) -> PredicateNode {
        guard entity.model?.hasComposites == true else { return self }
        let join = CompositeJoin(entity: entity)
        return rewriting(in: [:], entering: join.enter, join.joined)
    }
}

extension ExpressionNode {
    /// The same for an expression.
    func joiningComposites(of entity: NSEntityDescription) -> ExpressionNode {
        guard entity.model?.hasComposites == true else { return self }
        let join = CompositeJoin(entity: entity)
        return rewriting(in: [:], entering: join.enter, join.joined)
    }
}

/// Joins key paths, each by the entity of the objects that it is asked of.
private struct CompositeJoin {
    /// Of the objects that subqueries' variables stand for.
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
