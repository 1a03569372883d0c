import RecordLog
import Synchronization

/// How rows were found for a format, an order and a table, kept for the next fetch of the same kind with other arguments.
///
/// Replaces the compiler and the planner, where arguments cannot change their choice: one index serves, or a uniqueness constraint, or a limit
/// makes the shortest range the best plan. A plan of another kind is kept as a note that there is none.
///
/// Invariants:
/// 1. It holds no reference to a table, since its table holds it.
/// 2. The ranges and tests that it makes are those that the planner would make; `make` compares them for the arguments it was made with.
final class PreparedPlan: @unchecked Sendable {
    // Unchecked: only `isWide` changes, and it is atomic. The conditions' constants are values.

    enum Way {
        case scan
        case index(PreparedScan)
        /// The rows that refer to the found rows of another table.
        case through(TableIndex, Target)
        /// The owners of the found rows of another table.
        case owners(MemberSources, Target)
    }

    struct PreparedScan {
        let index: TableIndex
        let range: PreparedRange
        /// The order that the scan gives. Without a key where the arguments are part of that, so that only the scan of one table can use it.
        let order: IndexScan.Order?
        /// Whether the values are those of a uniqueness constraint.
        let isUnique: Bool
        /// Whether the scan has one range. With several it gives another order.
        let hasOneRange: Bool
    }

    /// The search at the other end of a relationship.
    struct Target {
        let table: TableID
        let plan: PreparedPlan
    }

    /// The number of the format, and the kind of fetch.
    let number: Int
    let sort: [SortKey]
    let hasLimit: Bool
    let isCount: Bool
    /// nil where each such fetch is planned anew.
    let way: Way?
    /// The conditions that the way does not answer.
    private let rest: [PreparedCondition]
    /// The state of the table for which the plan was made: the indexes that were there, one bit each, and the number of rows.
    private let indexes: UInt64
    private let rowCount: Int
    /// Whether a fetch found so many rows that a scan may have been cheaper. Then the next ones are planned anew, until the planner again
    /// chooses this way.
    private let isWide = Atomic(false)

    init(
        number: Int, sort: [SortKey], hasLimit: Bool, isCount: Bool, way: Way?, rest: [PreparedCondition], _ table: EntityTable, _ view: RecordLogView
    ) {
        (self.number, self.sort, self.hasLimit, self.isCount) = (number, sort, hasLimit, isCount)
        (self.way, self.rest) = (way, rest)
        indexes = Self.indexes(table, view)
        rowCount = view.snapshot.rowCount(table.id)
    }

    /// The most indexes of a table whose fetches are prepared.
    static let indexesMax = 64

    private static func indexes(_ table: EntityTable, _ view: RecordLogView) -> UInt64 {
        var bits: UInt64 = 0
        for index in table.indexes { bits = bits << 1 | (view.snapshot.hasIndex(index.id) ? 1 : 0) }
        return bits
    }

    func serves(_ number: Int, _ sort: [SortKey], hasLimit: Bool, isCount: Bool) -> Bool {
        self.number == number && self.hasLimit == hasLimit && self.isCount == isCount && self.sort.count == sort.count
            && sort.indices.allSatisfy { sort[$0].isSame(as: self.sort[$0]) }
    }

    /// Whether the table has the same indexes as when the plan was made, and about as many rows.
    func isCurrent(_ table: EntityTable, _ view: RecordLogView) -> Bool {
        let count = view.snapshot.rowCount(table.id)
        return count <= rowCount &* 2 &+ 32 && count &* 2 &+ 32 >= rowCount && Self.indexes(table, view) == indexes
    }

    // MARK: Use

    /// Returns the plan for a format's arguments.
    /// - Returns: nil where the fetch must be planned anew; the scope then has counts that do not belong to it.
    func plan(_ tree: PredicateTree, _ table: EntityTable, _ view: RecordLogView, _ scope: QueryScope) throws -> AccessPlan? {
        guard let way, !isWide.load(ordering: .relaxed) else { return nil }
        switch way {
        case .scan: return tested(.scan, tree, table, view)
        case .index(let prepared):
            guard let ranges = prepared.range.keys(tree, table.runtime, view, scope.key), (ranges.count == 1) == prepared.hasOneRange,
                ranges.count == 1 || ranges.count * Self.rowsPerRange <= view.snapshot.rowCount(table.id)
            else { return nil }
            let key = prepared.isUnique ? ranges[0].lower : nil
            return tested(.index(IndexScan(index: prepared.index, ranges: ranges, order: prepared.order, key: key)), tree, table, view)
        case .through(let index, let target):
            guard let found = try targets(target, tree, table, view, scope), found.count <= Self.targetsMax else { return nil }
            let ranges = found.map(\.rawValue).sorted().map { RecordLogView.range(of: RowReference(rawValue: $0)) }
            return tested(.index(IndexScan(index: index, ranges: ranges)), tree, table, view)
        case .owners(let source, let target):
            guard let (destination, plan) = try search(target, tree, table, view, scope) else { return nil }
            var owners: [RowReference] = []
            let join = SemiJoin(view: view, scope: scope, table: table, budget: .infinity, depth: 1)
            try join.forEachOwner(of: [(destination, plan)], in: source) { owners.append($0) }
            let rows = RowSet(owners)
            // With more rows a scan is cheaper.
            guard Double(rows.count) * (QueryPlanner.Cost.row + QueryPlanner.Cost.entry) <= Double(view.snapshot.rowCount(table.id)) else { return nil }
            return tested(.rows(rows), tree, table, view)
        }
    }

    /// A list of values is left to the planner in a table with fewer rows for each.
    private static let rowsPerRange = 4
    /// More found rows than this are left to the planner, which weighs them against a scan.
    private static let targetsMax = 64

    private func tested(_ access: AccessPlan.Access, _ tree: PredicateTree, _ table: EntityTable, _ view: RecordLogView) -> AccessPlan? {
        guard !rest.isEmpty else { return AccessPlan(access: access, test: nil, rows: 0, cost: 0) }
        var tests: [RowFilter] = []
        for condition in rest {
            guard let test = condition.filter(table, view, tree) else { return nil }
            tests.append(test)
        }
        guard let ranked = QueryPlanner.flattened(tests) else { return AccessPlan(access: .nothing, test: nil, rows: 0, cost: 0) }
        return AccessPlan(access: access, test: AllFilter.of(ranked), rows: 0, cost: 0)
    }

    private func search(
        _ target: Target, _ tree: PredicateTree, _ table: EntityTable, _ view: RecordLogView, _ scope: QueryScope
    ) throws -> (EntityTable, AccessPlan)? {
        guard let destination = view.schema.table(target.table), target.plan.isCurrent(destination, view),
            let plan = try target.plan.plan(tree, destination, view, scope)
        else { return nil }
        // The search may cost no more than the test of each row, as in `QueryPlanner.plan`.
        if case .index(let scan) = plan.access, scan.key == nil {
            let entries = try scan.ranges.reduce(0) { try $0 + view.snapshot.estimate(scan.index.id, $1) }
            guard entries <= view.snapshot.rowCount(table.id) else { return nil }
        }
        return (destination, plan)
    }

    private func targets(
        _ target: Target, _ tree: PredicateTree, _ table: EntityTable, _ view: RecordLogView, _ scope: QueryScope
    ) throws -> [RowReference]? {
        guard let (destination, plan) = try search(target, tree, table, view, scope) else { return nil }
        scope.lookups.append(QueryStatistics.Lookup(entity: destination.runtime.entity.name ?? "", access: plan.name))
        var found: [RowReference] = []
        try QueryRun(view: view, scope: scope).forEachMatch(plan, destination, maximum: Self.targetsMax + 1) { row in
            found.append(row.reference)
            return true
        }
        return found
    }

    // MARK: Feedback

    /// Learns how many rows a fetch visited and matched, of all rows of its table.
    func note(visited: Int, matched: Int, of rows: Int) {
        guard !hasLimit else { return }
        let count: Int
        switch way {
        case .index(let prepared)? where !prepared.isUnique: count = visited
        // The visited rows include those of the other table.
        case .through?: count = matched
        default: return
        }
        if count > 64, count &* 3 > rows { isWide.store(true, ordering: .relaxed) }
    }

    /// Learns the plan that the planner chose for a fetch of this kind.
    func note(_ plan: AccessPlan) {
        guard isWide.load(ordering: .relaxed), case .index(let scan) = plan.access else { return }
        switch way {
        case .index(let prepared)? where prepared.index === scan.index: isWide.store(false, ordering: .relaxed)
        case .through(let index, _)? where index === scan.index: isWide.store(false, ordering: .relaxed)
        default: break
        }
    }
}

extension SortKey {
    func isSame(as other: SortKey) -> Bool { path == other.path && isAscending == other.isAscending && textOrder == other.textOrder }
}
