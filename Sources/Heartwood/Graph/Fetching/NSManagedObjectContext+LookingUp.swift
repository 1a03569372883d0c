import Foundation

extension NSManagedObjectContext {
    /// Executes a fetch by the value of a uniqueness constraint, if the tables of one store suffice.
    /// - Returns: nil if the fetch needs the general implementation.
    final func lookUp<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]? {
        // A subclass of the predicate may evaluate differently.
        guard pending.changeCount == 0, parentContext == nil, request.asksForObjectsAlone, QueryTuning.forcedAccess == nil,
            let predicate = request.predicate, type(of: predicate) == NSComparisonPredicate.self,
            let tree = predicate.body as? PredicateTree, let found = try lookUp(tree, request)
        else { return nil }
        guard let object = found.first else { return [] }
        // If the object is of another class, the general implementation reports it.
        guard ResultType.self is NSManagedObject.Type, type(of: object) is ResultType.Type else { return Self.converted(object) }
        return found.unchecked(as: ResultType.self)
    }

    // A separate function, so that the runtime looks up the types only when it is called.
    @inline(never)
    private static func converted<ResultType>(_ object: NSManagedObject) -> [ResultType]? { (object as? ResultType).map { [$0] } }

    private func lookUp<ResultType>(_ tree: PredicateTree, _ request: NSFetchRequest<ResultType>) throws -> [NSManagedObject]? {
        if readState.generation == nil, let cachedPlan = queries.cachedPlan, cachedPlan.serves(request, tree, queries.lookupKey) {
            return try run(cachedPlan).map { [$0] } ?? []
        }
        guard coordinator?.hasSharedEntities == false, let equality = tree.equality else { return nil }
        let entity = try FetchSpecification.entity(of: request, context: self)
        let isAlone = !request.includesSubentities || entity.subentities.isEmpty
        // If each entity states the constraint for itself, each may have a row with the value.
        guard isAlone ? !entity.isAbstract : entity.isUnique(equality.key) else { return nil }
        return try lookUp(
            ConstraintLookup(key: equality.key, value: equality.value), isAlone ? [entity] : entity.concreteFamily, name: request.plainName)
    }

    /// - Parameter name: the entity's name, if the request has no further conditions.
    private func lookUp(_ lookup: ConstraintLookup, _ entities: [NSEntityDescription], name: String?) throws -> [NSManagedObject]? {
        adoptKeys()
        sweepIfNeeded()
        var found: NSManagedObject?
        var statistics = QueryStatistics()
        var asked: NSPersistentStore?
        for entity in entities {
            let runtime = runtime(for: entity)
            guard let store = runtime.store, asked == nil || asked === store else { return nil }
            if asked == nil { try store.follow() }
            asked = store
            var rows = RowObjects(self, store, runtime)
            let view = try view(of: store)
            guard let known = try view.lookUp(lookup, runtime, queries.lookupKey, { found = rows.object(of: $0) }) else { return nil }
            if readState.generation == nil, entities.count == 1, let name, entity.subentities.isEmpty, let coordinator,
                let view = view as? RecordLogView
            {
                queries.cachedPlan = CachedLookupPlan(name, coordinator, store, runtime, view, known, isFound: found != nil)
                queries.newestQuery = .cachedPlan
                return found.map { [$0] } ?? []
            }
            statistics.add(runtime, known.index, isFound: found != nil)
            // The constraint holds for all these entities together.
            if found != nil { break }
        }
        lastQuery = statistics
        return found.map { [$0] } ?? []
    }
}

extension NSEntityDescription {
    /// Whether a constraint makes the attribute unique among the objects of the entity and its subentities.
    fileprivate func isUnique(_ attribute: String) -> Bool {
        let isDeclared = uniquenessConstraints.contains { constraint in
            constraint.count == 1 && ((constraint[0] as? NSPropertyDescription)?.name ?? constraint[0] as? String) == attribute
        }
        return isDeclared || superentity?.isUnique(attribute) ?? false
    }
}
