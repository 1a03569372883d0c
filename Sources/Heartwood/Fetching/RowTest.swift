import RecordLog

/// What a query evaluates on row bytes: one node of a compiled predicate, bound to one table.
///
/// Null follows Core Data's rules for stores: `=` with a value is false, `!=` true, an order comparison false.
class RowTest {
    func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool { false }

    /// What an index could answer in this test's place; nil where none could.
    var indexCondition: IndexCondition? { nil }
}

/// What the tests of one query share while it runs.
final class QueryScope {
    let view: RecordLogView
    /// Rows whose bytes were looked at.
    var rowsVisited = 0

    init(view: RecordLogView) {
        self.view = view
    }
}

enum ComparisonOperator: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    @inline(__always)
    func holds<Value: Comparable>(_ a: Value, _ b: Value) -> Bool {
        switch self {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .lessOrEqual: a <= b
        case .greater: a > b
        case .greaterOrEqual: a >= b
        }
    }

    /// The operator with its sides exchanged.
    var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

// MARK: Compounds

final class AllTest: RowTest {
    let tests: [RowTest]

    init(_ tests: [RowTest]) {
        self.tests = tests
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        for test in tests where try !test.matches(row, scope) { return false }
        return true
    }
}

final class AnyTest: RowTest {
    let tests: [RowTest]

    init(_ tests: [RowTest]) {
        self.tests = tests
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        for test in tests where try test.matches(row, scope) { return true }
        return false
    }
}

final class NotTest: RowTest {
    let test: RowTest

    init(_ test: RowTest) {
        self.test = test
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        try !test.matches(row, scope)
    }
}

final class ConstantTest: RowTest {
    let value: Bool

    init(_ value: Bool) {
        self.value = value
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool { value }
}

// MARK: Columns

/// A test of one column.
class ColumnTest: RowTest {
    let runtime: EntityRuntime
    let property: Int

    init(_ runtime: EntityRuntime, _ property: Int) {
        self.runtime = runtime
        self.property = property
    }

    /// Where the column lies in `row`; nil for null.
    @inline(__always)
    final func access(_ row: RowView) -> ColumnAccess? {
        guard let accesses = runtime.accesses(row.layoutID) else { return nil }
        let access = accesses[property]
        return access.isAbsent || row.isNull(access) ? nil : access
    }
}

final class NullTest: ColumnTest {
    let isNull: Bool

    init(_ runtime: EntityRuntime, _ property: Int, isNull: Bool) {
        self.isNull = isNull
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        (access(row) == nil) == isNull
    }

    override var indexCondition: IndexCondition? {
        guard isNull else { return nil }
        let key = KeyBuilder()
        key.appendNull()
        return IndexCondition(property: property, kind: .equal([key.bytes]))
    }
}

final class IntegerTest: ColumnTest {
    let comparison: ComparisonOperator
    let constant: Int64

    init(_ runtime: EntityRuntime, _ property: Int, _ comparison: ComparisonOperator, _ constant: Int64) {
        self.comparison = comparison
        self.constant = constant
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return comparison == .notEqual }
        return comparison.holds(row.int64(access), constant)
    }

    override var indexCondition: IndexCondition? {
        let key = KeyBuilder()
        if runtime.properties[property].kind == .bool { key.append(bool: constant != 0) } else { key.append(int64: constant) }
        return IndexCondition(property: property, comparison, key.bytes)
    }
}

/// Floats, doubles and dates.
final class DoubleTest: ColumnTest {
    let comparison: ComparisonOperator
    let constant: Double

    init(_ runtime: EntityRuntime, _ property: Int, _ comparison: ComparisonOperator, _ constant: Double) {
        self.comparison = comparison
        self.constant = constant
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return comparison == .notEqual }
        return comparison.holds(row.double(access), constant)
    }

    override var indexCondition: IndexCondition? {
        guard !constant.isNaN else { return nil }
        let key = KeyBuilder()
        key.append(double: constant)
        return IndexCondition(property: property, comparison, key.bytes)
    }
}

final class DecimalTest: ColumnTest {
    let comparison: ComparisonOperator
    let constant: StoredDecimal
    private let constantKey: [UInt8]

    init(_ runtime: EntityRuntime, _ property: Int, _ comparison: ComparisonOperator, _ constant: StoredDecimal) {
        self.comparison = comparison
        self.constant = constant
        let key = KeyBuilder()
        key.append(decimal: constant)
        constantKey = key.bytes
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return comparison == .notEqual }
        // Decimals have several forms a value; their keys have one.
        let key = KeyBuilder()
        key.append(decimal: row.decimal(access))
        let bytes = key.bytes
        if bytes == constantKey { return comparison.holds(0, 0) }
        return comparison.holds(bytes.lexicographicallyPrecedes(constantKey) ? -1 : 1, 0)
    }

    override var indexCondition: IndexCondition? {
        IndexCondition(property: property, comparison, constantKey)
    }
}

final class UUIDTest: ColumnTest {
    let constants: [(UInt64, UInt64)]
    let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: [(UInt64, UInt64)], isNegated: Bool = false) {
        self.constants = constants
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        let value = row.uuid(access)
        return constants.contains { $0 == value } != isNegated
    }

    override var indexCondition: IndexCondition? {
        guard !isNegated else { return nil }
        return IndexCondition(property: property, kind: .equal(constants.map { constant in
            let key = KeyBuilder()
            key.append(uuid: constant)
            return key.bytes
        }))
    }
}

/// A to-one relationship compared with objects.
final class ReferenceTest: ColumnTest {
    let constants: Set<RowReference>
    let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: Set<RowReference>, isNegated: Bool = false) {
        self.constants = constants
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        return constants.contains(row.reference(access)) != isNegated
    }

    override var indexCondition: IndexCondition? {
        guard !isNegated else { return nil }
        return IndexCondition(property: property, kind: .equal(constants.map { constant in
            let key = KeyBuilder()
            key.append(reference: constant)
            return key.bytes
        }))
    }
}

/// The object itself, compared with objects.
final class IdentityTest: RowTest {
    let constants: Set<RowReference>
    let isNegated: Bool

    init(_ constants: Set<RowReference>, isNegated: Bool) {
        self.constants = constants
        self.isNegated = isNegated
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        constants.contains(row.reference) != isNegated
    }
}

final class BytesTest: ColumnTest {
    let constants: [[UInt8]]
    let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: [[UInt8]], isNegated: Bool = false) {
        self.constants = constants
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        let bytes = row.bytes(access)
        return constants.contains { $0.elementsEqual(bytes) } != isNegated
    }
}

final class IntegerSetTest: ColumnTest {
    let constants: Set<Int64>

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: Set<Int64>) {
        self.constants = constants
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        return constants.contains(row.int64(access))
    }

    override var indexCondition: IndexCondition? {
        let isBool = runtime.properties[property].kind == .bool
        return IndexCondition(property: property, kind: .equal(constants.map { constant in
            let key = KeyBuilder()
            if isBool { key.append(bool: constant != 0) } else { key.append(int64: constant) }
            return key.bytes
        }))
    }
}
