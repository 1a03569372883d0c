import RecordLog

/// What a query evaluates on row bytes: one node of a compiled predicate, bound to one table.
///
/// Null follows Core Data's rules for stores: `=` with a value is false, `!=` true, an order comparison false.
class RowFilter {
    func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool { false }

    /// Moves the rows that match to the front, in their order.
    /// - Returns: how many there are; what is behind them is any.
    func filter(_ rows: UnsafeMutableBufferPointer<RowView>, _ scope: QueryScope) throws -> Int {
        try rows.keep { try matches($0, scope) }
    }

    /// What an index could answer in this test's place; nil where none could.
    var indexCondition: IndexCondition? { nil }

    /// What it costs to ask, as a rank: of tests that must all hold the cheap ones come first.
    var weight: Int { 1 }

    /// Whether it asks objects at the other end of a relationship.
    var hasTargets: Bool { false }

    /// The same test with those objects found beforehand, where that is cheap.
    func resolved(_ lookup: SemiJoin) throws -> RowFilter { self }

    /// As the format language prints it; set where a partial index may want to know.
    final var format: String?
}

extension UnsafeMutableBufferPointer<RowView> {
    /// Moves the rows for which a condition holds to the front, in their order.
    /// - Returns: how many there are.
    @inline(__always)
    func keep(_ holds: (RowView) throws -> Bool) rethrows -> Int {
        var kept = 0
        for index in indices where try holds(self[index]) {
            self[kept] = self[index]
            kept &+= 1
        }
        return kept
    }
}

// MARK: Compounds

/// Several tests. They are asked without counting references, which threads that scan side by side would fight over.
class CompoundTest: RowFilter {
    let tests: [RowFilter]
    /// The same, kept alive by `tests`.
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

final class AllTest: CompoundTest {
    /// One test of several; nil of none.
    static func of(_ tests: [RowFilter]) -> RowFilter? { tests.count < 2 ? tests.first : AllTest(tests) }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        for test in list where try !test._withUnsafeGuaranteedRef({ try $0.matches(row, scope) }) { return false }
        return true
    }

    override func filter(_ rows: UnsafeMutableBufferPointer<RowView>, _ scope: QueryScope) throws -> Int {
        var count = rows.count
        for test in list where count > 0 {
            let left = UnsafeMutableBufferPointer(rebasing: rows[..<count])
            count = try test._withUnsafeGuaranteedRef { try $0.filter(left, scope) }
        }
        return count
    }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        hasTargets ? AllTest(try tests.map { try $0.resolved(lookup) }) : self
    }
}

final class AnyTest: CompoundTest {
    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        for test in list where try test._withUnsafeGuaranteedRef({ try $0.matches(row, scope) }) { return true }
        return false
    }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        hasTargets ? AnyTest(try tests.map { try $0.resolved(lookup) }) : self
    }

    /// Equalities with one column are a list.
    override var indexCondition: IndexCondition? {
        var key: IndexKey?
        var components: Set<[UInt8]> = []
        for test in tests {
            if let constant = test as? ConstantTest, !constant.value { continue }
            guard let condition = test.indexCondition, condition.isExact, key == nil || condition.key == key,
                let list = condition.components
            else { return nil }
            key = condition.key
            components.formUnion(list)
        }
        return key.map { IndexCondition($0, kind: .equal(Array(components))) }
    }
}

final class NotTest: RowFilter {
    let test: RowFilter

    init(_ test: RowFilter) {
        self.test = test
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        try !test.matches(row, scope)
    }

    override var weight: Int { test.weight }
    override var hasTargets: Bool { test.hasTargets }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        guard hasTargets else { return self }
        let inner = try test.resolved(lookup)
        return (inner as? RowSetFilter)?.negated ?? NotTest(inner)
    }
}

final class ConstantTest: RowFilter {
    let value: Bool

    init(_ value: Bool) {
        self.value = value
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool { value }
}
