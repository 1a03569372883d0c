import Foundation

/// Key paths into composite attributes, whose elements have columns named by the whole path.
extension NSEntityDescription {
    /// The keys with those that lead into a composite joined: "home", "address", "city" become "home", "address.city".
    func joiningComposites(_ keys: [String]) -> [String] {
        guard managedObjectModel?.hasComposites == true else { return keys }
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
        entity.managedObjectModel?.hasComposites == true ? CompositeJoin(entity: entity).joined(self) : self
    }
}

extension ExpressionNode {
    /// The same for an expression.
    func joiningComposites(of entity: NSEntityDescription) -> ExpressionNode {
        entity.managedObjectModel?.hasComposites == true ? CompositeJoin(entity: entity).joined(self) : self
    }
}

/// Joins the key paths of a tree, each by the entity of the objects that it is asked of.
private struct CompositeJoin {
    let entity: NSEntityDescription
    /// Of the objects that a subquery's variable stands for.
    var variables: [String: NSEntityDescription] = [:]

    func joined(_ node: PredicateNode) -> PredicateNode {
        switch node {
        case .constant, .block, .fault: return node
        case .and(let parts): return .and(parts.map(joined))
        case .or(let parts): return .or(parts.map(joined))
        case .not(let part): return .not(joined(part))
        case .comparison(let comparison):
            return .comparison(PredicateNode.Comparison(
                left: joined(comparison.left), comparison: comparison.comparison, right: joined(comparison.right),
                modifier: comparison.modifier, options: comparison.options))
        }
    }

    func joined(_ node: ExpressionNode) -> ExpressionNode {
        switch node {
        case .constant, .variable, .fault: return node
        case .keyPath(let keys): return .keyPath(entity.joiningComposites(keys))
        case .path(let base, let keys):
            let base = joined(base)
            return .path(base, PredicatePaths.entity(of: base, entity, variables)?.joiningComposites(keys) ?? keys)
        case .aggregate(let list): return .aggregate(list.map(joined))
        case .call(let function, let arguments): return .call(function, arguments.map(joined))
        case .set(let operation, let left, let right): return .set(operation, joined(left), joined(right))
        case .subquery(let collection, let name, let predicate):
            let collection = joined(collection)
            var inner = self
            inner.variables[name] = PredicatePaths.entity(of: collection, entity, variables)
            return .subquery(collection, variable: name, inner.joined(predicate))
        case .conditional(let predicate, let first, let second): return .conditional(joined(predicate), joined(first), joined(second))
        case .block(let block, let arguments): return .block(block, arguments.map(joined))
        }
    }
}
