import RecordLog

/// Queries whose plan is kept from an earlier one.
extension RecordLogView {
    /// Returns the parts of a query that an earlier query with the same format has prepared.
    /// - Returns: nil where the query must be planned; the scope then has counts that do not belong to it.
    func preparedParts(_ query: StoreQuery, _ scope: QueryScope, isCount: Bool) throws -> [Part]? {
        guard let tree = query.condition?.tree, let number = tree.number, QueryTuning.forcedAccess == nil else { return nil }
        if query.runtimes.count == 1 { return try preparedPart(query.runtimes[0], query, tree, number, scope, isCount).map { [$0] } }
        var parts: [Part] = []
        for runtime in query.runtimes {
            guard let part = try preparedPart(runtime, query, tree, number, scope, isCount) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private func preparedPart(
        _ runtime: EntityRuntime, _ query: StoreQuery, _ tree: PredicateTree, _ number: Int, _ scope: QueryScope, _ isCount: Bool
    ) throws -> Part? {
        let table = try schema.table(of: runtime, slotBase: slotBase), isOnly = query.runtimes.count == 1
        guard let known = table.prepared.find(number, query.sort, hasLimit: query.limit != nil, isCount: isCount), known.way != nil,
            known.isCurrent(table, self), let plan = try wrapped(query, { try known.plan(tree, table, self, scope) })
        else { return nil }
        // The rows of one table need no order if they come in it. Those of several are merged by it, or sorted.
        guard !query.sort.isEmpty, !(isOnly && plan.isOrdered) else { return Part(table, nil, plan, known) }
        guard isOnly || !plan.isOrdered || plan.canMerge, let order = RowOrder(query.sort, table: table, view: self) else { return nil }
        return Part(table, order, plan, known)
    }

    /// Keeps the plan of a query's part, where it has a format.
    func keep(_ part: Part, _ query: StoreQuery, isCount: Bool) throws {
        guard let tree = query.condition?.tree, let number = tree.number, QueryTuning.forcedAccess == nil else { return }
        let known = part.table.prepared.find(number, query.sort, hasLimit: query.limit != nil, isCount: isCount)
        if let known, known.isCurrent(part.table, self) { return known.note(part.plan) }
        let planned = PreparedPlan.Planned(
            tree: tree, sort: query.sort, sortProperties: query.sort.isEmpty ? [] : part.order?.directProperties, hasLimit: query.limit != nil,
            isCount: isCount, plan: part.plan)
        if let made = try PreparedPlan.make(planned, part.table, self) { part.table.prepared.keep(made) }
    }

    /// Reports to a prepared plan how many rows were found.
    func note(_ statistics: QueryStatistics, _ parts: [Part]) {
        guard parts.contains(where: { $0.prepared != nil }) else { return }
        let rows = parts.reduce(0) { $0 + snapshot.rowCount($1.table.id) }
        for part in parts { part.prepared?.note(visited: statistics.rowsVisited, matched: statistics.rowsMatched, of: rows) }
    }
}
