import RecordLog

/// Chooses the cheapest way to find the rows of one table that meet a condition.
///
/// Costs are in rows of a scan. Indexes estimate the number of entries in a range without reading rows. Between equal costs the first index
/// in the table's list wins, so that plans are the same in each run.
final class QueryPlanner {
    let view: RecordLogView
    let table: EntityTable
    let scope: QueryScope
    /// The order as properties of this table. Empty: no order. nil: an order through a relationship.
    let sort: [TableIndex.Part]?
    /// The number of rows to find, in order; nil for all.
    let limit: Int?
    /// Whether only the number of rows is needed. Rows without a test are not read then.
    let isCount: Bool
    /// The greatest cost of finding objects at the other end of relationships.
    let budget: Double
    /// The number of relationships from the query's table to this one.
    let depth: Int

    init(
        view: RecordLogView, table: EntityTable, scope: QueryScope, sort: [TableIndex.Part]? = [], limit: Int? = nil, isCount: Bool = false,
        budget: Double = .infinity, depth: Int = 0
    ) {
        self.view = view
        self.table = table
        self.scope = scope
        self.sort = sort
        self.limit = limit
        self.isCount = isCount
        self.budget = budget
        self.depth = depth
    }

    enum Cost {
        /// A row read by number; an index entry passed; a range located.
        static let row = 2.5, entry = 0.3, range = 1.5
        /// An index entry that is only counted.
        static let counted = 0.01
        /// A row number of a term in a text index.
        static let posting = 0.15
        /// A row number of one of several terms, which is read and sorted.
        static let collected = 0.7
        static let scan = 10.0
        /// For each row to sort: with a limit, and without one.
        static let sortKey = 1.5, sorted = 3.0
    }

    var rowCount: Double { Double(view.snapshot.rowCount(table.id)) }

    func plan(_ test: RowFilter?) throws -> AccessPlan {
        guard let tests = Self.flattened(test.map { [$0] } ?? []) else { return .nothing }
        let direct = try choose(tests)
        guard depth < Self.depthMax, tests.contains(where: \.hasTargets) else { return direct }
        // Row by row, each of these tests reads one or more rows elsewhere. A part of that cost may be spent on finding the matching ones first.
        let lookup = SemiJoin(
            view: view, scope: scope, table: table, budget: min(budget, direct.rows * Cost.row * 2 + 100), depth: depth + 1)
        guard let resolved = Self.flattened(try tests.map { try $0.resolved(lookup) }) else { return .nothing }
        return try choose(resolved)
    }

    /// Longer chains of relationships are tested row by row.
    private static let depthMax = 8

    /// Returns the tests that must all hold, cheap ones first.
    /// - Returns: nil where one of them is always false.
    static func flattened(_ tests: [RowFilter]) -> [RowFilter]? {
        var result: [RowFilter] = []
        for test in tests {
            switch test {
            case let all as AllFilter:
                guard let parts = flattened(all.tests) else { return nil }
                result += parts
            case let constant as ConstantFilter: if !constant.value { return nil }
            default: result.append(test)
            }
        }
        guard result.count > 1 else { return result }
        let ranked = result.enumerated().sorted { ($0.element.weight, $0.offset) < ($1.element.weight, $1.offset) }
        return ranked.map(\.element)
    }

    private func choose(_ tests: [RowFilter]) throws -> AccessPlan {
        let conditions = IndexConditions(tests)
        let forced = QueryTuning.forcedAccess
        if forced == nil, !conditions.isEmpty, let unique = uniquePlan(tests, conditions) { return unique }
        var scans: [IndexChoice] = [], mayUsePartial = false
        for index in table.indexes where view.snapshot.hasIndex(index.id) {
            if let partial = index.partial {
                mayUsePartial = mayUsePartial || scope.hasParameters && partial.mayBeImplied(by: tests, table)
                guard partial.isImplied(by: tests, table) else { continue }
            }
            guard let found = indexScan(index, tests, conditions) else { continue }
            if forced == nil, let shortest = shortest(found) { return mayUsePartial ? shortest : kept(shortest, found, tests) }
            scans.append(found)
        }
        let estimates = Estimates(planner: self, tests: tests)
        let scan = try scanPlan(tests, estimates)
        if forced == .scan { return scan }
        var best = scan
        func consider(_ candidate: AccessPlan?) {
            if let candidate, candidate.cost < best.cost { best = candidate }
        }
        for found in scans {
            let candidate = try priced(found, estimates)
            if forced == .index(found.scan.index.name) { return candidate }
            consider(candidate)
        }
        if let text = try textPlan(tests, estimates) {
            if case .index(let name)? = forced, text.name == .index(name) { return text }
            consider(text)
        }
        for (position, test) in tests.enumerated() {
            func rest() -> [RowFilter] { Self.rest(of: tests, without: [position]) }
            if let rows = (test as? RowSetFilter)?.rows {
                consider(try priced(.rows(rows), entries: Double(rows.count), ranges: 0, rest(), estimates))
            } else if let any = test as? AnyFilter, conditions[position] == nil {
                consider(try union(any, rest(), estimates))
            }
        }
        return mayUsePartial ? best : kept(best, among: scans, tests)
    }

    /// A plan with all values of a uniqueness constraint. It finds at most one row, so nothing is priced.
    private func uniquePlan(_ tests: [RowFilter], _ conditions: IndexConditions) -> AccessPlan? {
        for position in table.uniqueIndexes.indices {
            let index = table.uniqueIndexes[position].takeUnretainedValue()
            guard view.snapshot.hasIndex(index.id) else { continue }
            var ranges = IndexRanges()
            var answered: [Int] = [], isFixed = true
            for part in index.parts {
                guard let test = conditions.exactValue(of: part.key), let condition = conditions[test],
                    condition.components?.first?.first == KeyBuilder.valueTag
                else { break }
                ranges.bind(condition, part)
                answered.append(test)
                isFixed = isFixed && conditions.shortestList(part.key)?.isOnly == true
            }
            guard answered.count == index.parts.count, let list = ranges.keys(nil, scope.key), let key = list.first?.lower else { continue }
            let isSorted = sort?.isEmpty == false
            let scan = IndexScan(
                index: index, ranges: list, conditions: ranges,
                order: isSorted ? IndexScan.Order(partCount: index.parts.count, isDescending: false, key: nil) : nil, key: key)
            let rest = Self.rest(of: tests, without: answered)
            let plan = AccessPlan(access: .index(scan), test: AllFilter.of(rest), rows: 1, cost: Cost.range + Cost.entry + Cost.row)
            return kept(plan, IndexChoice(scan: scan, rest: rest, isFixed: isFixed), tests)
        }
        return nil
    }

    private func scanPlan(_ tests: [RowFilter], _ estimates: Estimates) throws -> AccessPlan {
        let rows = rowCount
        if isCount, tests.isEmpty { return AccessPlan(access: .scan, test: nil, rows: rows, cost: 0) }
        var share = 1.0
        // The estimate of a text index tells when a scan without an order has found enough.
        if let limit, sort?.isEmpty == true, try estimates.hasTextTest() {
            share = min(1, Double(limit) / max(try estimates.selectivity(tests) * rows, 1e-9))
        }
        var cost = Cost.scan + share * rows * (1 + testCost(tests))
        if sort?.isEmpty != true { cost += sortCost(rows * (try estimates.selectivity(tests))) }
        return AccessPlan(access: .scan, test: AllFilter.of(tests), rows: rows, cost: cost)
    }

    func testCost(_ tests: [RowFilter]) -> Double { tests.reduce(0) { $0 + Double($1.weight) * 0.1 } }

    func sortCost(_ rows: Double) -> Double { rows * (limit == nil ? Cost.sorted : Cost.sortKey) }

    /// Returns a plan with the cost of reading, testing and sorting its rows.
    func priced(
        _ access: AccessPlan.Access, entries: Double, ranges: Int, _ tests: [RowFilter], _ estimates: Estimates
    ) throws -> AccessPlan {
        var plan = AccessPlan(access: access, test: AllFilter.of(tests), rows: entries, cost: 0)
        if isCount, tests.isEmpty {
            plan.cost = Double(ranges) * Cost.range + entries * Cost.counted
            return plan
        }
        var visited = entries
        let selectivity = try estimates.selectivity(tests)
        if plan.isOrdered, let limit { visited = min(entries, Double(limit) / max(selectivity, 1e-9)) }
        plan.cost = Double(ranges) * Cost.range + visited * (Cost.entry + Cost.row + testCost(tests))
        if sort?.isEmpty != true, !plan.isOrdered { plan.cost += sortCost(entries * selectivity) }
        return plan
    }

    // MARK: Unions

    /// Returns a union of plans, one for each part of an OR; nil where a part needs a table scan. If all parts scan the same index, their ranges
    /// are joined in index order.
    private func union(_ any: AnyFilter, _ rest: [RowFilter], _ estimates: Estimates) throws -> AccessPlan? {
        let planner = QueryPlanner(view: view, table: table, scope: scope, isCount: isCount, budget: budget, depth: Self.depthMax)
        var parts: [AccessPlan] = []
        for test in Self.disjuncts(any) {
            let part = try planner.plan(test)
            switch part.access {
            case .scan: return nil
            case .nothing: continue
            case .union(let inner) where part.test == nil: parts += inner
            default: parts.append(part)
            }
        }
        let tests = parts.allSatisfy { $0.test == nil } ? rest : [any] + rest
        if let scan = joined(parts) {
            let ordered = IndexScan(
                index: scan.index, ranges: scan.ranges, order: order(of: scan.index, fixed: 0, rangeCount: scan.ranges.count, IndexConditions([])))
            return try priced(.index(ordered), entries: parts.reduce(0) { $0 + $1.rows }, ranges: scan.ranges.count, tests, estimates)
        }
        let entries = parts.reduce(0) { $0 + $1.rows }, ranges = parts.reduce(0) { $0 + $1.rangeCount }
        return try priced(.union(parts), entries: entries, ranges: ranges, tests, estimates)
    }

    /// Returns the parts of an OR. Nested ORs are flattened, and equalities of one key become one list.
    private static func disjuncts(_ any: AnyFilter) -> [RowFilter] {
        var result: [RowFilter] = []
        var lists: [(key: IndexKey, tests: [RowFilter])] = []
        func add(_ test: RowFilter) {
            if let condition = test.indexCondition, condition.isExact, condition.components != nil {
                if let known = lists.firstIndex(where: { $0.key == condition.key }) {
                    lists[known].tests.append(test)
                } else {
                    lists.append((condition.key, [test]))
                }
            } else if let inner = test as? AnyFilter {
                inner.tests.forEach(add)
            } else {
                result.append(test)
            }
        }
        any.tests.forEach(add)
        return lists.map { $0.tests.count == 1 ? $0.tests[0] : AnyFilter($0.tests) } + result
    }

    private func joined(_ parts: [AccessPlan]) -> IndexScan? {
        var ranges: [KeyRange] = []
        var index: TableIndex?
        for part in parts {
            guard case .index(let scan) = part.access, index == nil || index?.id == scan.index.id else { return nil }
            index = scan.index
            ranges += scan.ranges
        }
        return index.map { IndexScan(index: $0, ranges: KeyRange.joined(ranges)) }
    }
}

extension KeyRange {
    /// Returns the union of the ranges as disjoint ranges, ascending.
    static func joined(_ ranges: [KeyRange]) -> [KeyRange] {
        var result: [KeyRange] = []
        for range in sorted(ranges.filter { !$0.isEmpty }) {
            guard let last = result.last else {
                result.append(range)
                continue
            }
            guard let end = last.upper else { break }
            if end.lexicographicallyPrecedes(range.lower ?? []) {
                result.append(range)
            } else if range.upper.map({ end.lexicographicallyPrecedes($0) }) ?? true {
                result[result.count - 1].upper = range.upper
            }
        }
        return result
    }
}
