import RecordLog

/// The tests of a relationship's destination, by table ID: several tables may contain its rows.
package struct DestinationFilters {
    private var byTable: [RowFilter?] = []

    /// The tables and their tests.
    package var list: [(table: TableID, test: RowFilter)] {
        byTable.enumerated().compactMap { id, test in test.map { (TableID(rawValue: UInt16(id)), $0) } }
    }

    mutating func set(_ test: RowFilter, for table: TableID) {
        let id = Int(table.rawValue)
        while byTable.count <= id { byTable.append(nil) }
        byTable[id] = test
    }

    /// - Parameter whenGone: the result for a row that no longer exists.
    @inline(__always)
    func matches(_ reference: RowReference, _ scope: QueryScope, whenGone: Bool = false) throws -> Bool {
        let id = Int(reference.table.rawValue)
        guard id < byTable.count, let test = byTable[id] else { return false }
        guard let row = try scope.row(reference) else { return whenGone }
        scope.rowsVisited &+= 1
        return try test.matches(row, scope)
    }
}

/// The two ways to the members of a to-many relationship.
package struct MemberSources {
    /// The members by owner.
    package let members: MemberSource
    /// The property of the members that refers to their owner; nil where a join table stores the members.
    package let inverse: Int?
    /// The owner's entity, and the relationship.
    package let owner: EntityRuntime, property: Int
}

/// Tests the destination of a to-one relationship.
package final class ToOneFilter: ColumnFilter {
    package let destinations: DestinationFilters
    /// The result without a destination, or with one that no longer exists: that of a comparison with null.
    package let whenNull: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ destinations: DestinationFilters, whenNull: Bool) {
        self.destinations = destinations
        self.whenNull = whenNull
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return whenNull }
        return try destinations.matches(row.reference(access), scope, whenGone: whenNull)
    }

    override var weight: Int { 20 }
    override var hasTargets: Bool { true }
    override var isBindable: Bool { false }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        guard let searches = try lookup.searches(destinations) else { return self }
        var rows = RowSet()
        try lookup.forEachTarget(of: searches) { _, row in rows.insert(row.reference) }
        return SemiJoinFilter(runtime, property, rows, whenNull: whenNull, target: lookup.target(of: searches))
    }
}

/// Tests whether any member of a to-many relationship meets a condition.
package final class AnyMemberFilter: RowFilter {
    package let source: MemberSources
    package let destinations: DestinationFilters

    init(_ source: MemberSources, _ destinations: DestinationFilters) {
        self.source = source
        self.destinations = destinations
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        var found = false
        try scope.forEachMember(of: row.reference, in: source) { member in
            found = try destinations.matches(member, scope)
            return !found
        }
        return found
    }

    override var weight: Int { 50 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        guard let searches = try lookup.searches(destinations) else { return self }
        var rows = RowSet()
        try lookup.forEachOwner(of: searches, in: source) { rows.insert($0) }
        return RowSetFilter(rows, search: lookup.target(of: searches).map { (source, $0) })
    }
}

/// Tests whether any member of a to-many relationship is one of these objects.
package final class AnyMemberIdentityFilter: RowFilter {
    package let source: MemberSources
    package let constants: Set<RowReference>

    init(_ source: MemberSources, _ constants: Set<RowReference>) {
        self.source = source
        self.constants = constants
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        var found = false
        try scope.forEachMember(of: row.reference, in: source) { member in
            found = constants.contains(member)
            return !found
        }
        return found
    }

    override var weight: Int { 30 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var rows = RowSet()
        try lookup.forEachOwner(of: constants.sorted { $0.rawValue < $1.rawValue }, in: source) { rows.insert($0) }
        return RowSetFilter(rows)
    }
}

/// Compares the number of a to-many relationship's members, counted in the index, with a constant.
package final class MemberCountFilter: RowFilter {
    package let source: MemberSources
    package let comparison: ComparisonOperator
    package let constant: Int64

    init(_ source: MemberSources, _ comparison: ComparisonOperator, _ constant: Int64) {
        self.source = source
        self.comparison = comparison
        self.constant = constant
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        comparison.holds(Int64(try scope.memberCount(of: row.reference, in: source)), constant)
    }

    override var weight: Int { 30 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var counts = MemberCounts(limit: lookup.rowLimit)
        guard try lookup.forEachMembership(in: source, { counts.add($0) }) else { return self }
        return try counts.test(comparison, constant, lookup)
    }
}
