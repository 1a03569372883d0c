import Foundation

extension FetchSpecification {
    /// The entities of the objects that the predicate and the order look at beside those that are asked for.
    var entitiesAlong: Set<ObjectIdentifier> {
        var result: Set<ObjectIdentifier> = []
        func follow(_ path: [String]) {
            var owner = entity
            for key in path {
                // A key may be one that only a subentity has.
                let owners = [owner] + owner.concreteFamily
                let relationship = owners.lazy.compactMap { $0.propertiesByName[key] as? NSRelationshipDescription }.first
                guard let destination = relationship?.destinationEntity else { return }
                result.formUnion(destination.concreteFamily.map(ObjectIdentifier.init))
                owner = destination
            }
        }
        predicate?.forEachPath(follow)
        for key in sort where key.path.count > 1 { follow(key.path) }
        return result
    }
}

extension PredicateNode {
    /// Calls `body` with each key path that leads to another object.
    fileprivate func forEachPath(_ body: ([String]) -> Void) {
        switch self {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { part.forEachPath(body) }
        case .not(let part): part.forEachPath(body)
        case .comparison(let comparison):
            comparison.left.forEachPath(isDirect: comparison.modifier == .direct, body)
            comparison.right.forEachPath(isDirect: comparison.modifier == .direct, body)
        }
    }
}

extension ExpressionNode {
    fileprivate func forEachPath(isDirect: Bool, _ body: ([String]) -> Void) {
        switch self {
        case .keyPath(let keys): if keys.count > 1 || !isDirect { body(keys) }
        case .aggregate(let list): for part in list { part.forEachPath(isDirect: isDirect, body) }
        case .constant, .variable: break
        }
    }
}
