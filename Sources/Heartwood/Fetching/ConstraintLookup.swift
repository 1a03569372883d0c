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
            case .comparison(let comparison)? = (predicate.body as? PredicateTree)?.node,
            comparison.comparison == .equal, comparison.modifier == .direct, comparison.options.isEmpty,
            case .keyPath(let keys) = comparison.left, keys.count == 1, case .constant(let value) = comparison.right,
            request.resultType.isEmpty, request.fetchOffset <= 0, request.sortDescriptors?.isEmpty ?? true, request.affectedStores == nil,
            request.includesPropertyValues, request.returnsObjectsAsFaults, !request.shouldRefreshRefetchedObjects,
            request.relationshipKeyPathsForPrefetching == nil, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil
        else { return nil }
        key = keys[0]
        self.value = value
    }

    /// The index that knows, and what it is asked.
    fileprivate func index(of table: EntityTable, _ snapshot: Snapshot) -> (index: TableIndex, prefix: KeyBuilder)? {
        for index in table.indexes where index.isUnique && index.parts.count == 1 && index.partial == nil && index.parts[0].isAscending {
            guard let place = index.parts[0].property, snapshot.hasIndex(index.id) else { continue }
            let property = table.runtime.properties[place]
            guard property.name == key else { continue }
            let prefix = KeyBuilder()
            switch (property.kind, value) {
            case (.string, .text(let text)): prefix.append(text: text)
            case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)): prefix.append(int64: number)
            default: return nil
            }
            return (index, prefix)
        }
        return nil
    }
}

extension RecordLogView {
    func find(
        _ lookup: ConstraintLookup, _ runtime: EntityRuntime, _ statistics: inout QueryStatistics, _ body: (RowView) throws -> Void
    ) throws -> Bool {
        let table = try schema.table(of: runtime, slotBase: slotBase)
        guard let (index, prefix) = lookup.index(of: table, snapshot) else { return false }
        statistics.parts.append(QueryStatistics.Part(
            entity: runtime.entity.name ?? "", access: .index(index.name), rangeCount: 1, isOrdered: false))
        do {
            guard let number = try snapshot.firstRow(index.id, prefix: prefix),
                let row = try snapshot.row(RowReference(table: table.id, row: number))
            else { return true }
            statistics.rowsVisited += 1
            statistics.rowsMatched += 1
            try body(row)
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
        return true
    }
}

extension NSManagedObjectContext {
    /// What a fetch by the value of a uniqueness constraint gives, where nothing but the tables of one store has a say in it.
    /// - Returns: nil where the fetch has to take the ordinary way.
    final func lookUp<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]? {
        guard changeCount == 0, parentContext == nil, coordinator?.hasSharedEntities == false, let lookup = ConstraintLookup(request),
            QueryTuning.current.access == nil
        else { return nil }
        let entity = try FetchSpecification.entity(of: request, context: self)
        let isAlone = !request.includesSubentities || entity.subentities.isEmpty
        guard !isAlone || !entity.isAbstract, let found = try lookUp(lookup, isAlone ? [entity] : entity.concreteFamily) else { return nil }
        guard let object = found.first else { return [] }
        // Where it is of another class the ordinary way says so.
        guard ResultType.self is NSManagedObject.Type, type(of: object) is ResultType.Type else { return (object as? ResultType).map { [$0] } }
        return unsafeBitCast(found, to: [ResultType].self)
    }

    private func lookUp(_ lookup: ConstraintLookup, _ entities: [NSEntityDescription]) throws -> [NSManagedObject]? {
        adoptKeys()
        sweepIfWanted()
        var objects: [NSManagedObject] = []
        var statistics = QueryStatistics()
        var asked: NSPersistentStore?
        for entity in entities {
            let runtime = runtime(for: entity)
            guard let store = runtime.store, asked == nil || asked === store else { return nil }
            if asked == nil { store.followOthers() }
            asked = store
            var rows = RowObjects(self, store, runtime)
            let isKnown = try view(of: store).lookUp(lookup, runtime, &statistics) { row in
                if let object = rows.object(of: row) { objects.append(object) }
            }
            guard isKnown else { return nil }
            // The constraint holds for all of them together.
            if !objects.isEmpty { break }
        }
        lastQuery = statistics
        return objects
    }
}
