import RecordLog

/// A node of a compiled predicate, bound to one table, which tests row bytes.
///
/// Null follows the rules of Core Data's stores: `=` with a value is false, `!=` is true, an order comparison is false.
package class RowFilter {
    package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool { false }

    /// Moves the matching rows to the front, in their order.
    /// - Returns: the number of matching rows. The rows behind them are unspecified.
    func filter(_ rows: UnsafeMutableBufferPointer<UnsafeRowView>, _ scope: QueryScope) throws -> Int {
        try rows.keep { try matches($0, scope) }
    }

    /// The index condition that can replace or narrow this test; nil where there is none.
    package var indexCondition: IndexCondition? { nil }

    /// The conditions that hold for each row that passes.
    package final var indexConditions: [IndexCondition] {
        guard let all = self as? AllFilter else { return indexCondition.map { [$0] } ?? [] }
        return all.tests.flatMap(\.indexConditions)
    }

    /// The terms in text indexes that can narrow this test; nil where there are none.
    var textCondition: TextCondition? { nil }

    /// The cost of the test as a rank. Of tests that must all hold, cheap ones run first.
    var weight: Int { 1 }

    /// Whether the test reads objects at the other end of a relationship.
    var hasTargets: Bool { false }

    /// Returns the test with those objects found in advance, where that is cheap.
    func resolved(_ lookup: SemiJoin) throws -> RowFilter { self }

    // MARK: Parameters

    /// Whether a plan with this test can take other arguments: it has none, or `bound` compiles it again.
    var isBindable: Bool { false }

    /// Returns the test with other arguments; nil where one of them does not fit.
    func bound(_ binding: PlanBinding) -> RowFilter? { self }

    /// The test with the arguments that it was compiled with.
    var withoutParameters: RowFilter { self }

    /// The test in the format language; set only where the table has partial indexes.
    final var format: String?
}

extension UnsafeMutableBufferPointer<UnsafeRowView> {
    /// Moves the rows for which `holds` is true to the front, in their order.
    /// - Returns: the number of those rows.
    @inline(__always)
    func keep(_ holds: (UnsafeRowView) throws -> Bool) rethrows -> Int {
        var kept = 0
        for index in indices where try holds(self[index]) {
            self[kept] = self[index]
            kept &+= 1
        }
        return kept
    }
}

// MARK: Compounds

/// A compound of tests. It calls them without retain and release, for which parallel scans would contend.
package class CompoundFilter: RowFilter {
    package let tests: [RowFilter]
    /// The same tests, kept alive by `tests`.
    fileprivate let list: UnsafeMutableBufferPointer<Unmanaged<RowFilter>>

    init(_ tests: [RowFilter]) {
        self.tests = tests
        list = .allocate(capacity: tests.count)
        _ = list.initialize(from: tests.map(Unmanaged.passUnretained))
    }

    deinit {
        list.deallocate()
    }

    override var weight: Int { tests.reduce(1) { $0 + $1.weight } }
    override var hasTargets: Bool { tests.contains(where: \.hasTargets) }
}

package final class AllFilter: CompoundFilter {
    /// Joins tests into one; nil for none.
    package static func of(_ tests: [RowFilter]) -> RowFilter? { tests.count < 2 ? tests.first : AllFilter(tests) }

    override var withoutParameters: RowFilter { AllFilter(tests.map(\.withoutParameters)) }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        for test in list where try !test._withUnsafeGuaranteedRef({ try $0.matches(row, scope) }) { return false }
        return true
    }

    override func filter(_ rows: UnsafeMutableBufferPointer<UnsafeRowView>, _ scope: QueryScope) throws -> Int {
        var count = rows.count
        for test in list where count > 0 {
            let left = UnsafeMutableBufferPointer(rebasing: rows[..<count])
            count = try test._withUnsafeGuaranteedRef { try $0.filter(left, scope) }
        }
        return count
    }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        hasTargets ? AllFilter(try tests.map { try $0.resolved(lookup) }) : self
    }
}

package final class AnyFilter: CompoundFilter {
    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        for test in list where try test._withUnsafeGuaranteedRef({ try $0.matches(row, scope) }) { return true }
        return false
    }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        hasTargets ? AnyFilter(try tests.map { try $0.resolved(lookup) }) : self
    }

    /// Equalities of one key, joined to a list.
    override package var indexCondition: IndexCondition? {
        var key: IndexKey?
        var components: Set<[UInt8]> = []
        for test in tests {
            if let constant = test as? ConstantFilter, !constant.value { continue }
            guard let condition = test.indexCondition, condition.isExact, key == nil || condition.key == key,
                let list = condition.components
            else { return nil }
            key = condition.key
            components.formUnion(list)
        }
        return key.map { IndexCondition($0, kind: .equal(Array(components))) }
    }
}

package final class NotFilter: RowFilter {
    package let test: RowFilter

    init(_ test: RowFilter) {
        self.test = test
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        try !test.matches(row, scope)
    }

    override var weight: Int { test.weight }
    override var hasTargets: Bool { test.hasTargets }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        guard hasTargets else { return self }
        let inner = try test.resolved(lookup)
        return (inner as? RowSetFilter)?.negated ?? NotFilter(inner)
    }
}

package final class ConstantFilter: RowFilter {
    package let value: Bool

    init(_ value: Bool) {
        self.value = value
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool { value }
}
