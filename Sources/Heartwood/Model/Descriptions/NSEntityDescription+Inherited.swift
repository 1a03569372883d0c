extension NSEntityDescription {
    /// Itself and every entity below it that objects can be made of.
    var concreteFamily: [NSEntityDescription] {
        guard !subentities.isEmpty else { return isAbstract ? [] : [self] }
        return (isAbstract ? [] : [self]) + subentities.flatMap(\.concreteFamily)
    }

    /// Its own uniqueness constraints and its ancestors', as attribute names.
    var allUniquenessConstraints: [[String]] {
        let own = uniquenessConstraints.map { constraint in
            constraint.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
        }
        return (superentity?.allUniquenessConstraints ?? []) + own.filter { !$0.isEmpty }
    }

    /// Its own fetch indexes and its ancestors'.
    var allIndexes: [NSFetchIndexDescription] {
        (superentity?.allIndexes ?? []) + indexes
    }
}
