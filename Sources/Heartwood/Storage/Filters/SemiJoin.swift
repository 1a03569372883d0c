import RecordLog

/// Finds the objects at the other end of a relationship that meet a condition, and from them the rows that refer to them. Otherwise the query would
/// read these objects for each of its rows.
struct SemiJoin {
    let view: RecordLogView
    let scope: QueryScope
    /// The table of the query's rows.
    let table: EntityTable
    /// The greatest cost, in rows of a scan.
    let budget: Double
    let depth: Int

    var rowLimit: UInt64 { view.snapshot.rowLimit(table.id) }

    /// Whether the reference is to an existing row of this table.
    func isHere(_ reference: RowReference) throws -> Bool {
        guard reference.table == table.id else { return false }
        return try view.snapshot.contains(reference)
    }

    /// A search for the objects of one table that meet its condition.
    typealias Search = (table: EntityTable, plan: AccessPlan)

    /// Plans the searches for the objects that meet their tables' conditions.
    /// - Returns: nil where the cost would exceed the budget.
    func searches(_ destinations: DestinationFilters) throws -> [Search]? {
        var found: [Search] = []
        var left = budget
        for (id, test) in destinations.list {
            guard let table = view.schema.table(id) else { return nil }
            let plan = try QueryPlanner(view: view, table: table, scope: scope, budget: left, depth: depth).plan(test)
            left -= plan.cost
            guard left >= 0 else { return nil }
            found.append((table, plan))
        }
        return found
    }

    /// The only search, where it has a plan for other arguments.
    func target(of searches: [Search]) -> PlanTemplate.Target? {
        guard searches.count == 1, let template = searches[0].plan.template, let state = TableState(searches[0].table, view) else { return nil }
        return PlanTemplate.Target(table: searches[0].table.id, state: state, template: template)
    }

    /// Calls `body` with each object that the searches find.
    func forEachTarget(of searches: [Search], _ body: (EntityTable, UnsafeRowView) throws -> Void) throws {
        let run = QueryRun(view: view, scope: scope)
        for (table, plan) in searches {
            scope.lookups.append(QueryStatistics.Lookup(entity: table.runtime.entity.name ?? "", access: plan.name))
            try run.forEachMatch(plan, table) { row in
                try body(table, row)
                return true
            }
        }
    }

    /// Calls `body` with the owner of each member that the searches find, once for each member.
    func forEachOwner(of searches: [Search], in source: MemberSources, _ body: (RowReference) -> Void) throws {
        if let inverse = source.inverse {
            return try forEachTarget(of: searches) { members, row in try owner(of: row, members, inverse).map(body) }
        }
        var members: [RowReference] = []
        try forEachTarget(of: searches) { members.append($1.reference) }
        if members.count > 1 { members.sort { $0.rawValue < $1.rawValue } }
        try forEachOwner(of: members, in: source, body)
    }

    /// Calls `body` with the owners of known members.
    /// - Parameter members: ascending, each once.
    func forEachOwner(of members: [RowReference], in source: MemberSources, _ body: (RowReference) -> Void) throws {
        switch source.members {
        case .inverse:
            guard let inverse = source.inverse else { return }
            for member in members {
                guard let table = view.schema.table(member.table), let row = try view.snapshot.unsafeRow(member) else { continue }
                scope.rowsVisited += 1
                try owner(of: row, table, inverse).map(body)
            }
        case .link(let link, let isForward):
            var start = 0
            while start < members.count {
                let end = members[start...].firstIndex { $0.table != members[start].table } ?? members.count
                try view.forEachEntry(link.index(isForward: !isForward), of: Array(members[start..<end])) { _, key, _ in
                    if let owner = RecordLogView.lastReference(of: key), try isHere(owner) { body(owner) }
                }
                start = end
            }
        }
    }

    private func owner(of row: UnsafeRowView, _ members: EntityTable, _ inverse: Int) throws -> RowReference? {
        guard let access = members.runtime.access(inverse, in: row) else { return nil }
        let owner = row.reference(access)
        return try isHere(owner) ? owner : nil
    }

    /// Calls `body` with the owner of each membership in the relationship.
    /// - Returns: false where the cost would exceed the budget; `body` was not called then.
    func forEachMembership(in source: MemberSources, _ body: (RowReference) -> Void) throws -> Bool {
        let indexes = switch source.members {
        case .inverse(let tables): tables.map(\.index)
        case .link(let link, let isForward): [link.index(isForward: isForward)]
        }
        let entries = try indexes.reduce(0) { try $0 + view.snapshot.estimate($1, .all) }
        guard Double(entries) * QueryPlanner.Cost.entry <= budget else { return false }
        for index in indexes {
            var cursor = try view.snapshot.cursor(index)
            while try cursor.next() != nil {
                scope.entriesCounted += 1
                if let owner = RecordLogView.firstReference(of: cursor.unsafeKey), owner.table == table.id { body(owner) }
            }
        }
        return true
    }
}

/// The number of members of each row of a table.
struct MemberCounts {
    private var counts: [UInt64: Int64] = [:]
    private let limit: UInt64

    /// - Parameter limit: greater than all row numbers.
    init(limit: UInt64) {
        self.limit = limit
    }

    mutating func add(_ owner: RowReference) {
        if owner.row < limit { counts[owner.row, default: 0] += 1 }
    }

    /// Returns a filter that compares the counts with a constant. Rows without members have no count.
    func test(_ comparison: ComparisonOperator, _ constant: Int64, _ lookup: SemiJoin) throws -> RowSetFilter {
        let isNegated = comparison.holds(0, constant)
        var rows = RowSet()
        for (row, count) in counts where comparison.holds(count, constant) != isNegated {
            let reference = RowReference(table: lookup.table.id, row: row)
            if try lookup.isHere(reference) { rows.insert(reference) }
        }
        return RowSetFilter(rows, isNegated: isNegated)
    }
}
