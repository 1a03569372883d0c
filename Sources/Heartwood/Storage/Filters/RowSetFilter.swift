import RecordLog

/// Whether a row is one of those that were found beforehand, or none of them.
final class RowSetFilter: RowFilter {
    private let marks: RowSet
    private let isNegated: Bool

    init(_ marks: RowSet, isNegated: Bool = false) {
        self.marks = marks
        self.isNegated = isNegated
    }

    /// The rows for which it holds, all of one table; nil where it holds for all others.
    var rows: RowSet? { isNegated ? nil : marks }

    var negated: RowSetFilter { RowSetFilter(marks, isNegated: !isNegated) }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        marks.contains(row.reference) != isNegated
    }
}

/// A to-one relationship whose destination is one of those that were found beforehand.
final class TargetsTest: ColumnTest {
    private let marks: RowSet
    private let whenNull: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ marks: RowSet, whenNull: Bool) {
        self.marks = marks
        self.whenNull = whenNull
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return whenNull }
        let reference = row.reference(access)
        if marks.contains(reference) { return true }
        // A destination that is gone counts as null.
        return try whenNull && !scope.view.snapshot.contains(reference)
    }

    /// More destinations are looked up row by row.
    private static let listMax = 10_000

    override var indexCondition: IndexCondition? {
        // Which references lead to nothing no index tells.
        guard !whenNull, marks.count <= Self.listMax else { return nil }
        let key = KeyBuilder()
        var list: [[UInt8]] = []
        marks.forEach { reference in
            key.removeAll()
            key.append(reference: reference)
            list.append(key.bytes)
        }
        return IndexCondition(property: property, kind: .equal(list))
    }
}

/// The object itself, compared with objects.
final class IdentityTest: RowFilter {
    private let constants: Set<RowReference>
    private let isNegated: Bool

    init(_ constants: Set<RowReference>, isNegated: Bool) {
        self.constants = constants
        self.isNegated = isNegated
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        constants.contains(row.reference) != isNegated
    }

    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var marks = RowSet()
        for constant in constants where try lookup.isHere(constant) { marks.insert(constant) }
        return RowSetFilter(marks, isNegated: isNegated)
    }
}
