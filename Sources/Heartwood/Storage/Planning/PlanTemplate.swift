import RecordLog

/// A plan without the arguments of its format, for which `QueryPlanner` found that they do not change its choice.
///
/// Invariant: it holds no reference to a table, since its table may hold it.
final class PlanTemplate {
    enum Way {
        case scan
        case index(Scan)
        /// The rows that refer to the found rows of another table.
        case through(TableIndex, Target)
        /// The owners of the found rows of another table.
        case owners(MemberSources, Target)
    }

    struct Scan {
        let index: TableIndex
        let ranges: IndexRanges
        /// The order that the scan gives. Without a key where the arguments are part of that, so that only the scan of one table can use it.
        let order: IndexScan.Order?
        /// Whether the values are those of a uniqueness constraint.
        let isUnique: Bool
    }

    /// The search at the other end of a relationship.
    struct Target {
        let table: TableID
        let state: TableState
        let template: PlanTemplate
    }

    /// A list of which the planner knew whether it had one value or several. That decides about orders, and whether a constraint finds one row.
    struct List {
        let parameter: Parameter
        let isOneValue: Bool
    }

    let way: Way
    /// The tests that the way does not answer.
    private let rest: [RowFilter]
    private let lists: [List]

    init(_ way: Way, rest: [RowFilter], lists: [List]) {
        (self.way, self.rest, self.lists) = (way, rest, lists)
    }

    /// A list of values is left to the planner in a table with fewer rows for each.
    private static let rowsPerRange = 4
    /// More found rows than this are left to the planner, which weighs them against a scan.
    private static let targetsMax = 64

    /// Returns the plan for arguments.
    /// - Returns: nil where the planner must choose for them; the scope then has counts that do not belong to the fetch.
    func plan(_ binding: PlanBinding) throws -> AccessPlan? {
        for list in lists where list.parameter.isOneValue(binding) != list.isOneValue { return nil }
        let rows = binding.view.snapshot.rowCount(binding.table.id)
        switch way {
        case .scan: return tested(.scan, binding)
        case .index(let scan):
            guard let ranges = scan.ranges.keys(binding, binding.scope.key), ranges.count == 1 || ranges.count * Self.rowsPerRange <= rows else { return nil }
            let key = scan.isUnique ? ranges[0].lower : nil
            return tested(.index(IndexScan(index: scan.index, ranges: ranges, order: scan.order, key: key)), binding)
        case .through(let index, let target):
            guard let found = try targets(target, binding), found.count <= Self.targetsMax else { return nil }
            let ranges = found.map(\.rawValue).sorted().map { RecordLogView.range(of: RowReference(rawValue: $0)) }
            return tested(.index(IndexScan(index: index, ranges: ranges)), binding)
        case .owners(let source, let target):
            guard let search = try search(target, binding) else { return nil }
            var owners: [RowReference] = []
            let join = SemiJoin(view: binding.view, scope: binding.scope, table: binding.table, budget: .infinity, depth: 1)
            try join.forEachOwner(of: [search], in: source) { owners.append($0) }
            let found = RowSet(owners)
            // With more rows a scan is cheaper.
            guard Double(found.count) * (QueryPlanner.Cost.row + QueryPlanner.Cost.entry) <= Double(rows) else { return nil }
            return tested(.rows(found), binding)
        }
    }

    private func tested(_ access: AccessPlan.Access, _ binding: PlanBinding) -> AccessPlan? {
        guard !rest.isEmpty else { return AccessPlan(access: access, test: nil, rows: 0, cost: 0) }
        var tests: [RowFilter] = []
        for test in rest {
            guard let bound = test.bound(binding) else { return nil }
            tests.append(bound)
        }
        guard let ranked = QueryPlanner.flattened(tests) else { return .nothing }
        return AccessPlan(access: access, test: AllFilter.of(ranked), rows: 0, cost: 0)
    }

    private func search(_ target: Target, _ binding: PlanBinding) throws -> SemiJoin.Search? {
        let view = binding.view
        guard let table = view.schema.table(target.table), target.state.isCurrent(table, view),
            let plan = try target.template.plan(PlanBinding(arguments: binding.arguments, table: table, view: view, scope: binding.scope))
        else { return nil }
        // The search may cost no more than the test of each row, as in `QueryPlanner.plan`.
        if case .index(let scan) = plan.access, scan.key == nil {
            let entries = try scan.ranges.reduce(0) { try $0 + view.snapshot.estimate(scan.index.id, $1) }
            guard entries <= view.snapshot.rowCount(binding.table.id) else { return nil }
        }
        return (table, plan)
    }

    private func targets(_ target: Target, _ binding: PlanBinding) throws -> [RowReference]? {
        guard let (table, plan) = try search(target, binding) else { return nil }
        binding.scope.lookups.append(QueryStatistics.Lookup(entity: table.runtime.entity.name ?? "", access: plan.name))
        var found: [RowReference] = []
        try QueryRun(view: binding.view, scope: binding.scope).forEachMatch(plan, table, maximum: Self.targetsMax + 1) { row in
            found.append(row.reference)
            return true
        }
        return found
    }
}

/// The state of a table for which a plan was made: the indexes that were there, one bit each, and the number of rows.
struct TableState {
    private let indexes: UInt64
    private let rowCount: Int

    /// - Returns: nil for a table with more indexes than the state has bits.
    init?(_ table: EntityTable, _ view: RecordLogView) {
        guard table.indexes.count <= UInt64.bitWidth else { return nil }
        indexes = Self.indexes(table, view)
        rowCount = view.snapshot.rowCount(table.id)
    }

    private static func indexes(_ table: EntityTable, _ view: RecordLogView) -> UInt64 {
        var bits: UInt64 = 0
        for index in table.indexes { bits = bits << 1 | (view.snapshot.hasIndex(index.id) ? 1 : 0) }
        return bits
    }

    /// Whether the table has the same indexes, and about as many rows.
    func isCurrent(_ table: EntityTable, _ view: RecordLogView) -> Bool {
        let count = view.snapshot.rowCount(table.id)
        return count <= rowCount &* 2 &+ 32 && count &* 2 &+ 32 >= rowCount && Self.indexes(table, view) == indexes
    }
}
