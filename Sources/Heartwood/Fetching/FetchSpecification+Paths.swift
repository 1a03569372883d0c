import Foundation

extension FetchSpecification {
    /// The entities of the objects that the predicate and the order look at beside those that are asked for.
    var entitiesAlong: Set<ObjectIdentifier> {
        var result: Set<ObjectIdentifier> = []
        func follow(_ owner: NSEntityDescription, _ path: [String]) {
            var owner = owner
            for key in path where !key.hasPrefix("@") {
                guard let destination = (owner.familyProperty(key) as? NSRelationshipDescription)?.destinationEntity else { return }
                result.formUnion(destination.concreteFamily.map(ObjectIdentifier.init))
                owner = destination
            }
        }
        if let predicate {
            try? PredicatePaths.walk(predicate, entity: entity) { path in
                if let owner = path.owner, path.keys.count > 1 || !path.isDirect { follow(owner, path.keys) }
            }
        }
        for key in sort where key.path.count > 1 { follow(entity, key.path) }
        return result
    }
}
