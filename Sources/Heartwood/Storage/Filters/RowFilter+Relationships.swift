import RecordLog

/// By table ID: the test of a relationship's destination, whose rows may lie in several tables.
struct DestinationTests {
    private var byTable: [RowFilter?] = []

    /// The tables with their tests.
    var list: [(table: TableID, test: RowFilter)] {
        byTable.enumerated().compactMap { id, test in test.map { (TableID(rawValue: UInt16(id)), $0) } }
    }

    mutating func set(_ test: RowFilter, for table: TableID) {
        let id = Int(table.rawValue)
        while byTable.count <= id { byTable.append(nil) }
        byTable[id] = test
    }

    /// - Parameter whenGone: what a row gives that is not there any more.
    @inline(__always)
    func matches(_ reference: RowReference, _ scope: QueryScope, whenGone: Bool = false) throws -> Bool {
        let id = Int(reference.table.rawValue)
        guard id < byTable.count, let test = byTable[id] else { return false }
        guard let row = try scope.view.snapshot.row(reference) else { return whenGone }
        scope.rowsVisited &+= 1
        return try test.matches(row, scope)
    }
}

/// A to-many relationship of a table, from either end.
struct MemberSources {
    /// From an owner to its members.
    let members: MemberSource
    /// The property of the members' entities that refers to their owner; nil where the members are in a join table.
    let inverse: Int?
}

/// A condition on the object at the other end of a to-one relationship.
final class ToOneTest: ColumnTest {
    let destinations: DestinationTests
    /// What a missing destination gives, or one that is gone: the value of the comparison with null.
    let whenNull: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ destinations: DestinationTests, whenNull: Bool) {
        self.destinations = destinations
        self.whenNull = whenNull
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return whenNull }
        return try destinations.matches(row.reference(access), scope, whenGone: whenNull)
    }

    override var weight: Int { 20 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var marks = RowSet()
        let isFound = try lookup.forEachTarget(destinations) { _, row in marks.insert(row.reference) }
        return isFound ? TargetsTest(runtime, property, marks, whenNull: whenNull) : self
    }
}

/// Whether any member of a to-many relationship meets a condition.
final class AnyMemberTest: RowFilter {
    let source: MemberSources
    let destinations: DestinationTests

    init(_ source: MemberSources, _ destinations: DestinationTests) {
        self.source = source
        self.destinations = destinations
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        var found = false
        try scope.view.forEachMember(of: row.reference, in: source.members) { member in
            found = try destinations.matches(member, scope)
            return !found
        }
        return found
    }

    override var weight: Int { 50 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var marks = RowSet()
        let isFound = try lookup.forEachOwner(of: destinations, in: source) { marks.insert($0) }
        return isFound ? RowSetFilter(marks) : self
    }
}

/// Whether any member of a to-many relationship is one of these objects.
final class AnyMemberIdentityTest: RowFilter {
    let source: MemberSources
    let constants: Set<RowReference>

    init(_ source: MemberSources, _ constants: Set<RowReference>) {
        self.source = source
        self.constants = constants
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        var found = false
        try scope.view.forEachMember(of: row.reference, in: source.members) { member in
            found = constants.contains(member)
            return !found
        }
        return found
    }

    override var weight: Int { 30 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var marks = RowSet()
        try lookup.forEachOwner(of: constants.sorted { $0.rawValue < $1.rawValue }, in: source) { marks.insert($0) }
        return RowSetFilter(marks)
    }
}

/// How many members a to-many relationship has; counted in the index.
final class MemberCountTest: RowFilter {
    let source: MemberSources
    let comparison: ComparisonOperator
    let constant: Int64

    init(_ source: MemberSources, _ comparison: ComparisonOperator, _ constant: Int64) {
        self.source = source
        self.comparison = comparison
        self.constant = constant
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        comparison.holds(Int64(try scope.view.memberCount(of: row.reference, in: source.members)), constant)
    }

    override var weight: Int { 30 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        var counts = MemberCounts(limit: lookup.rowLimit)
        guard try lookup.forEachMembership(in: source, { counts.add($0) }) else { return self }
        return try counts.test(comparison, constant, lookup)
    }
}
