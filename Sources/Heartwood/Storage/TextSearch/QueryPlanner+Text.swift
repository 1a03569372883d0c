import RecordLog

/// The use of text indexes for a query.
extension QueryPlanner {
    /// The terms that a test needs, in the indexes that the table has.
    struct TextTest {
        var groups: [TextScan.Group] = []
        /// Whether a row with the terms meets the test, unless its text is long.
        var isExact = false

        /// The estimated number of rows, at most.
        var rows: Double { groups.first?.rows ?? .infinity }
    }

    /// The share of rows that a further term leaves, since terms of one pattern come together.
    private static let remaining = 0.6
    /// A term with so many times the rows of the rarest one takes longer to read than the candidates that it removes.
    private static let frequent = 8.0

    /// Returns the plan that searches the text indexes; nil where no test needs a term.
    func textPlan(_ tests: [RowFilter], _ estimates: Estimates) throws -> AccessPlan? {
        guard !table.textIndexes.isEmpty else { return nil }
        var found: [(position: Int, test: TextTest)] = []
        for (position, test) in tests.enumerated() {
            if let known = try estimates.textTest(test) { found.append((position, known)) }
        }
        guard let best = found.min(by: { $0.test.rows < $1.test.rows }) else { return nil }
        let long = try longTexts(found.flatMap { $0.test.groups })
        // A row with a long text in one index may match by the terms of another one, so only one test's terms can be asked for.
        if !long.isEmpty { found = [best] }
        var groups = found.flatMap(\.test.groups).sorted { $0.rows < $1.rows }
        let isWhole = groups.allSatisfy { !isFrequent($0, best.test.rows) }
        if !isWhole { groups = groups.enumerated().filter { $0.offset == 0 || !isFrequent($0.element, best.test.rows) }.map(\.element) }
        let answered = isWhole && long.isEmpty ? found.filter(\.test.isExact).map(\.position) : []
        let rest = tests.indices.filter { !answered.contains($0) }.map { tests[$0] }
        return try priced(TextScan(groups, withLongTexts: long), rest, estimates)
    }

    /// Whether a group's rows cost more to read than they save.
    private func isFrequent(_ group: TextScan.Group, _ rows: Double) -> Bool {
        group.rows > (rows + 64) * Self.frequent
    }

    private func priced(_ scan: TextScan, _ tests: [RowFilter], _ estimates: Estimates) throws -> AccessPlan {
        let entries = scan.groups.first?.rows ?? 0
        var candidates = entries
        for _ in scan.groups.dropFirst().prefix(4) { candidates *= Self.remaining }
        var plan = AccessPlan(access: .text(scan), test: AllFilter.of(tests), rows: candidates, cost: 0)
        // Each further term is asked for each row of the rarest one.
        let perEntry = Cost.posting * Double(scan.groups.count)
        let ranges = Double(scan.termCount) * Cost.range
        // The rows of a prefix's terms are all read and sorted before the first of them is known.
        let collected = scan.groups.reduce(0) { $0 + ($1.isCollected ? $1.rows * Cost.collected : 0) }
        guard !isCount || !tests.isEmpty else {
            plan.cost = ranges + collected + entries * perEntry
            return plan
        }
        let others = try estimates.selectivity(tests.filter { $0.textCondition == nil })
        var share = 1.0
        if sort?.isEmpty == true, let limit, candidates > 0 { share = min(1, Double(limit) / max(others, 1e-9) * 1.5 / candidates) }
        plan.cost = ranges + collected + share * (entries * perEntry + candidates * (Cost.row + testCost(tests)))
        if sort?.isEmpty != true { plan.cost += sortCost(candidates * others) }
        return plan
    }

    /// Returns the indexes among those of the groups that have long texts.
    private func longTexts(_ groups: [TextScan.Group]) throws -> [TableIndex] {
        var result: [TableIndex] = []
        for group in groups {
            for (index, _) in group.alternatives where !result.contains(where: { $0.id == index.id }) {
                if try TextIndexReader(view.snapshot, index).hasLongTexts { result.append(index) }
            }
        }
        return result
    }

    /// Finds a test's terms in the table's indexes; nil where it needs none that they have.
    func textTest(_ test: RowFilter, among tests: [RowFilter]) throws -> TextTest? {
        guard !table.textIndexes.isEmpty, let condition = test.textCondition else { return nil }
        var result = TextTest(isExact: condition.isExact)
        for group in condition.groups {
            var alternatives: [(index: TableIndex, requirement: TermRequirement)] = []
            var rows = 0.0
            for alternative in group {
                guard let index = textIndex(of: alternative.property, tests) else { break }
                alternatives.append((index, alternative.requirement))
                rows += Double(try TextIndexReader(view.snapshot, index).estimate(alternative.requirement))
            }
            guard alternatives.count == group.count else {
                result.isExact = false
                continue
            }
            result.groups.append(TextScan.Group(alternatives: alternatives, rows: min(rows, rowCount)))
        }
        result.groups.sort { $0.rows < $1.rows }
        return result.groups.isEmpty ? nil : result
    }

    /// Returns the index over an attribute of text that contains every row that meets the tests.
    func textIndex(of property: Int, _ tests: [RowFilter]) -> TableIndex? {
        table.textIndexes.first { index in
            index.parts.first?.property == property && view.snapshot.hasIndex(index.id)
                && (index.partial?.isImplied(by: tests, table) ?? true)
        }
    }
}
