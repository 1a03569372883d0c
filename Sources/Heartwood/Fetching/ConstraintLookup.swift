import RecordLog

/// `email == "a@example.com"` where `email` alone is a uniqueness constraint: one look at one index, without a plan. It is the commonest
/// fetch of a program, and planning it takes several times as long as answering it.
struct ConstraintLookup {
    let key: String
    let value: PredicateValue

    /// - Returns: nil where the request asks for more, or for less, than the objects that a value names.
    init?<ResultType>(_ request: NSFetchRequest<ResultType>) {
        // Another class may evaluate in a way of its own.
        guard let predicate = request.predicate, type(of: predicate) == NSComparisonPredicate.self,
            let equality = (predicate.body as? PredicateTree)?.equality,
            request.resultType.isEmpty, request.fetchOffset <= 0, request.sortDescriptors?.isEmpty ?? true, request.affectedStores == nil,
            request.includesPropertyValues, request.returnsObjectsAsFaults, !request.shouldRefreshRefetchedObjects,
            request.relationshipKeyPathsForPrefetching == nil, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil
        else { return nil }
        (key, value) = equality
    }

    /// The index that knows.
    /// - Parameter prefix: becomes what the index is asked.
    fileprivate func index(of table: EntityTable, _ snapshot: Snapshot, _ prefix: KeyBuilder) -> TableIndex? {
        prefix.removeAll()
        for lookup in table.lookups where lookup.attribute == key && snapshot.hasIndex(lookup.index.id) {
            switch value {
            case .text(let text) where lookup.isText: prefix.append(text: text)
            case .integer(let number) where !lookup.isText: prefix.append(int64: number)
            default: return nil
            }
            return lookup.index
        }
        return nil
    }
}

extension RecordLogView {
    func find(
        _ lookup: ConstraintLookup, _ runtime: EntityRuntime, _ key: KeyBuilder, _ body: (RowView) throws -> Void
    ) throws -> TableIndex? {
        let table = try schema.table(of: runtime, slotBase: slotBase)
        guard let index = lookup.index(of: table, snapshot, key) else { return nil }
        do {
            if let number = try snapshot.firstRow(index.id, prefix: key), let row = try snapshot.row(RowReference(table: table.id, row: number)) {
                try body(row)
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
        return index
    }
}

extension NSManagedObjectContext {
    /// What a fetch by the value of a uniqueness constraint gives, where nothing but the tables of one store has a say in it.
    /// - Returns: nil where the fetch has to take the ordinary way.
    final func lookUp<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]? {
        guard changeCount == 0, parentContext == nil, coordinator?.hasSharedEntities == false, let lookup = ConstraintLookup(request),
            QueryTuning.forcedAccess == nil
        else { return nil }
        let entity = try FetchSpecification.entity(of: request, context: self)
        let isAlone = !request.includesSubentities || entity.subentities.isEmpty
        // Entities that state it each for themselves may have a row each.
        guard isAlone || entity.isUnique(lookup.key) else { return nil }
        guard !isAlone || !entity.isAbstract, let found = try lookUp(lookup, isAlone ? [entity] : entity.concreteFamily) else { return nil }
        guard let object = found.first else { return [] }
        // Where it is of another class the ordinary way says so.
        guard ResultType.self is NSManagedObject.Type, type(of: object) is ResultType.Type else { return Self.converted(object) }
        return unsafeBitCast(found, to: [ResultType].self)
    }

    // Apart, so that the runtime looks for the types that it needs where it is called alone.
    @inline(never)
    private static func converted<ResultType>(_ object: NSManagedObject) -> [ResultType]? { (object as? ResultType).map { [$0] } }

    private func lookUp(_ lookup: ConstraintLookup, _ entities: [NSEntityDescription]) throws -> [NSManagedObject]? {
        adoptKeys()
        sweepIfWanted()
        var found: NSManagedObject?
        var statistics = QueryStatistics()
        var asked: NSPersistentStore?
        for entity in entities {
            let runtime = runtime(for: entity)
            guard let store = runtime.store, asked == nil || asked === store else { return nil }
            if asked == nil { store.followOthers() }
            asked = store
            var rows = RowObjects(self, store, runtime)
            guard let index = try view(of: store).lookUp(lookup, runtime, lookupKey, { found = rows.object(of: $0) }) else { return nil }
            if entities.count == 1 {
                newestQuery = .lookup(runtime, index, isFound: found != nil)
                return found.map { [$0] } ?? []
            }
            statistics.add(runtime, index, isFound: found != nil)
            // The constraint holds for all of them together.
            if found != nil { break }
        }
        lastQuery = statistics
        return found.map { [$0] } ?? []
    }
}

extension NSEntityDescription {
    /// Whether no two objects of the entity and its subentities have one value of an attribute.
    fileprivate func isUnique(_ attribute: String) -> Bool {
        let isStated = uniquenessConstraints.contains { constraint in
            constraint.count == 1 && ((constraint[0] as? NSPropertyDescription)?.name ?? constraint[0] as? String) == attribute
        }
        return isStated || superentity?.isUnique(attribute) ?? false
    }
}
