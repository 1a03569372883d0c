extension NSEntityDescription {
    /// This entity and all that inherit from it, without abstract ones.
    package var concreteFamily: [NSEntityDescription] {
        guard !subentities.isEmpty else { return isAbstract ? [] : [self] }
        return (isAbstract ? [] : [self]) + subentities.flatMap(\.concreteFamily)
    }

    /// The uniqueness constraints of this entity and its ancestors, as attribute names.
    package var allUniquenessConstraints: [[String]] {
        let own = uniquenessConstraints.map { constraint in
            // A cast of a text to a class makes the runtime look for conformances of `String`.
            constraint.compactMap { type(of: $0) == String.self ? $0 as? String : ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
        }
        return (superentity?.allUniquenessConstraints ?? []) + own.filter { !$0.isEmpty }
    }

    /// The fetch indexes of this entity and its ancestors.
    var allIndexes: [NSFetchIndexDescription] {
        (superentity?.allIndexes ?? []) + indexes
    }
}
