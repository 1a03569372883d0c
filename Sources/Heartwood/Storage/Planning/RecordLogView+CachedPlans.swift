import RecordLog

/// Queries whose plan is kept from an earlier one.
extension RecordLogView {
    private func key(_ query: StoreQuery, _ number: Int, isCount: Bool) -> CachedPlan.Key {
        CachedPlan.Key(number: number, sort: query.sort, hasLimit: query.limit != nil, isCount: isCount)
    }

    /// Returns the parts of a query with the plans that the tables keep for its format.
    /// - Returns: nil where the query must be planned; the scope then has counts that do not belong to it.
    func cachedParts(_ query: StoreQuery, _ scope: QueryScope, isCount: Bool) throws -> [Part]? {
        guard let arguments = query.condition?.tree, let number = arguments.number, QueryTuning.forcedAccess == nil else { return nil }
        let key = key(query, number, isCount: isCount)
        if query.runtimes.count == 1 { return try cachedPart(query.runtimes[0], query, arguments, key, scope).map { [$0] } }
        var parts: [Part] = []
        for runtime in query.runtimes {
            guard let part = try cachedPart(runtime, query, arguments, key, scope) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private func cachedPart(
        _ runtime: EntityRuntime, _ query: StoreQuery, _ arguments: PredicateTree, _ key: CachedPlan.Key, _ scope: QueryScope
    ) throws -> Part? {
        let table = try schema.table(of: runtime, slotBase: slotBase), isOnly = query.runtimes.count == 1
        guard let known = table.plans.find(key), known.isCurrent(table, self) else { return nil }
        let binding = PlanBinding(arguments: arguments, table: table, view: self, scope: scope)
        guard let plan = try wrapped(query, { try known.plan(binding) }) else { return nil }
        // The rows of one table need no order if they come in it. Those of several are merged by it, or sorted.
        guard !query.sort.isEmpty, !(isOnly && plan.isOrdered) else { return Part(table, nil, plan, known) }
        guard isOnly || !plan.isOrdered || plan.canMerge, let order = RowOrder(query.sort, table: table) else { return nil }
        return Part(table, order, plan, known)
    }

    /// Keeps a plan for other arguments of the query's format, if the planner gave one.
    func keep(_ plan: AccessPlan, _ table: EntityTable, _ query: StoreQuery, isCount: Bool) {
        guard let number = query.condition?.tree?.number, QueryTuning.forcedAccess == nil else { return }
        let key = key(query, number, isCount: isCount)
        if let known = table.plans.find(key), known.isCurrent(table, self) { return known.note(plan) }
        if let template = plan.template, let state = TableState(table, self) { table.plans.keep(CachedPlan(key, template, state)) }
    }

    /// Reports to the plans that were kept how many rows they found.
    func note(_ statistics: QueryStatistics, _ parts: [Part]) {
        guard parts.contains(where: { $0.cachedPlan != nil }) else { return }
        let rows = parts.reduce(0) { $0 + snapshot.rowCount($1.table.id) }
        for part in parts { part.cachedPlan?.note(visited: statistics.rowsVisited, matched: statistics.rowsMatched, of: rows) }
    }
}
