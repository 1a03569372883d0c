import RecordLog

/// Tests whether a row is in a set that was found in advance, or is not in it.
final class RowSetFilter: RowFilter {
    private let set: RowSet
    private let isNegated: Bool
    /// How the rows were found, where they are the owners of other rows, and the search has a plan for other arguments.
    let search: (source: MemberSources, target: PlanTemplate.Target)?

    init(_ set: RowSet, isNegated: Bool = false, search: (source: MemberSources, target: PlanTemplate.Target)? = nil) {
        self.set = set
        self.isNegated = isNegated
        self.search = search
    }

    /// The rows that match, all of one table; nil where all others match.
    var rows: RowSet? { isNegated ? nil : set }

    var negated: RowSetFilter { RowSetFilter(set, isNegated: !isNegated) }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        set.contains(row.reference) != isNegated
    }
}

/// Tests whether a to-one relationship's destination is in a set that was found in advance.
final class SemiJoinFilter: ColumnFilter {
    private let set: RowSet
    private let whenNull: Bool
    private let target: PlanTemplate.Target?

    /// - Parameter target: how the set was found, if the search has a plan for other arguments.
    init(_ runtime: EntityRuntime, _ property: Int, _ set: RowSet, whenNull: Bool, target: PlanTemplate.Target?) {
        self.set = set
        self.whenNull = whenNull
        self.target = target
        super.init(runtime, property)
    }

    override var isBindable: Bool { false }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return whenNull }
        let reference = row.reference(access)
        if set.contains(reference) { return true }
        // A destination that no longer exists counts as null.
        return try whenNull && !scope.view.snapshot.contains(reference)
    }

    /// Beyond this number of destinations, rows are tested one by one.
    private static let listMax = 10_000

    override var indexCondition: IndexCondition? {
        // No index knows which references lead to missing rows.
        guard !whenNull, set.count <= Self.listMax else { return nil }
        let key = KeyBuilder()
        var list: [[UInt8]] = []
        set.forEach { reference in
            key.removeAll()
            key.append(reference: reference)
            list.append(key.bytes)
        }
        return IndexCondition(.property(property), kind: .equal(list), operand: .search(target))
    }
}

/// Compares the object itself with objects.
package final class IdentityFilter: RowFilter {
    package let constants: Set<RowReference>
    package let isNegated: Bool

    init(_ constants: Set<RowReference>, isNegated: Bool) {
        self.constants = constants
        self.isNegated = isNegated
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        constants.contains(row.reference) != isNegated
    }

    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var set = RowSet()
        for constant in constants where try lookup.isHere(constant) { set.insert(constant) }
        return RowSetFilter(set, isNegated: isNegated)
    }
}
