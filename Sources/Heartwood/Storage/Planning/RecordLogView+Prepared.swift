import RecordLog

/// Queries whose plan is kept from an earlier one.
extension RecordLogView {
    /// Returns the part of a query that an earlier query with the same format has prepared.
    /// - Returns: nil where the query must be planned; the scope then has counts that do not belong to it.
    func preparedPart(_ query: StoreQuery, _ scope: QueryScope, isCount: Bool) throws -> Part? {
        guard query.runtimes.count == 1, let tree = query.condition?.tree, let number = tree.number, QueryTuning.forcedAccess == nil else { return nil }
        let table = try schema.table(of: query.runtimes[0], slotBase: slotBase)
        guard let known = table.prepared.find(number, query.sort, hasLimit: query.limit != nil, isCount: isCount), known.way != nil,
            known.isCurrent(table, self), let plan = try wrapped(query, { try known.plan(tree, table, self, scope) })
        else { return nil }
        guard !query.sort.isEmpty, !plan.isOrdered else { return Part(table, nil, plan, known) }
        guard let order = RowOrder(query.sort, table: table, view: self) else { return nil }
        return Part(table, order, plan, known)
    }

    /// Keeps the plan of a query's only part, where it has a format.
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
        guard parts.count == 1, let prepared = parts[0].prepared else { return }
        prepared.note(visited: statistics.rowsVisited, matched: statistics.rowsMatched, of: snapshot.rowCount(parts[0].table.id))
    }
}
