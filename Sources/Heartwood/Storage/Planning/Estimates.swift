import RecordLog

/// Estimates the rows that conditions leave, with the help of indexes. Computes each condition's estimate once.
final class Estimates {
    private let planner: QueryPlanner
    private var known: [ObjectIdentifier: Double] = [:]
    private var textTests: [ObjectIdentifier: QueryPlanner.TextTest?] = [:]

    /// The selectivity assumed for a condition without an index.
    private static let unknown = 0.25
    /// The approximate number of ranges to sample; the sum is extrapolated.
    private static let rangesAsked = 32

    /// The query's tests that must all hold.
    private let tests: [RowFilter]

    init(planner: QueryPlanner, tests: [RowFilter]) {
        self.planner = planner
        self.tests = tests
    }

    func entries(_ index: IndexID, _ ranges: [KeyRange]) throws -> Double {
        let step = max(1, ranges.count / Self.rangesAsked)
        var sum = 0, asked = 0
        for position in stride(from: 0, to: ranges.count, by: step) {
            sum += try planner.view.snapshot.estimate(index, ranges[position])
            asked += 1
        }
        return asked == ranges.count ? Double(sum) : Double(sum) / Double(asked) * Double(ranges.count)
    }

    /// Returns the fraction of the rows for which all tests hold.
    func selectivity(_ tests: [RowFilter]) throws -> Double {
        try tests.reduce(1) { try $0 * selectivity($1) }
    }

    private func selectivity(_ test: RowFilter) throws -> Double {
        let rows = planner.rowCount
        guard rows > 0 else { return 0 }
        if let set = (test as? RowSetFilter)?.rows { return min(1, Double(set.count) / rows) }
        if let text = try textTest(test) { return min(1, text.rows / rows) }
        guard let condition = test.indexCondition else { return Self.unknown }
        if let before = known[ObjectIdentifier(test)] { return before }
        let snapshot = planner.view.snapshot
        guard let index = planner.table.indexes.first(where: {
            $0.parts.first?.key == condition.key && $0.partial == nil && snapshot.hasIndex($0.id)
        }), let part = index.parts.first else { return Self.unknown }
        guard let ranges = IndexRanges(condition, part).keys(nil, planner.scope.key) else { return Self.unknown }
        let result = min(1, try entries(index.id, ranges) / rows)
        known[ObjectIdentifier(test)] = result
        return result
    }

    // MARK: Text indexes

    /// Returns a test's terms in text indexes, found once; nil where it needs none that the table's indexes have.
    func textTest(_ test: RowFilter) throws -> QueryPlanner.TextTest? {
        guard !planner.table.textIndexes.isEmpty else { return nil }
        if let known = textTests[ObjectIdentifier(test)] { return known }
        let made = try planner.textTest(test, among: tests)
        textTests[ObjectIdentifier(test)] = .some(made)
        return made
    }

    func hasTextTest() throws -> Bool {
        guard !planner.table.textIndexes.isEmpty else { return false }
        return try tests.contains { try textTest($0) != nil }
    }
}
