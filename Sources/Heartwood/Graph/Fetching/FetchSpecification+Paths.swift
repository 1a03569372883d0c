import Foundation

extension FetchSpecification {
    /// The entities whose objects the predicate and the order read, besides the objects that the fetch returns.
    var entitiesAlong: Set<ObjectIdentifier> {
        var result: Set<ObjectIdentifier> = []
        func follow(_ owners: [NSEntityDescription], _ path: [String]) {
            var owners = owners
            for key in path where !key.hasPrefix("@") && key.lowercased() != "self" {
                owners = owners.destinations(of: key)
                if owners.isEmpty { return }
                for owner in owners { result.formUnion(owner.concreteFamily.map(ObjectIdentifier.init)) }
            }
        }
        if let predicate {
            try? PredicatePaths.traverse(predicate, entity: entity) { path in
                if path.keys.count > 1 || !path.isDirect { follow(path.owners, path.keys) }
            }
        }
        for key in sort where key.path.count > 1 { follow([entity], key.path) }
        return result
    }
}
