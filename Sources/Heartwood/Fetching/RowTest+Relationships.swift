import RecordLog

/// By table ID: the test of a relationship's destination, whose rows may lie in several tables.
struct DestinationTests {
    private var byTable: [RowTest?] = []

    mutating func set(_ test: RowTest, for table: TableID) {
        let id = Int(table.rawValue)
        while byTable.count <= id { byTable.append(nil) }
        byTable[id] = test
    }

    @inline(__always)
    func matches(_ reference: RowReference, _ scope: QueryScope) throws -> Bool {
        let id = Int(reference.table.rawValue)
        guard id < byTable.count, let test = byTable[id], let row = try scope.view.snapshot.row(reference) else { return false }
        scope.rowsVisited &+= 1
        return try test.matches(row, scope)
    }
}

/// A condition on the object at the other end of a to-one relationship.
final class ToOneTest: ColumnTest {
    let destinations: DestinationTests
    /// What a missing destination gives: the value of the comparison with null.
    let whenNull: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ destinations: DestinationTests, whenNull: Bool) {
        self.destinations = destinations
        self.whenNull = whenNull
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return whenNull }
        return try destinations.matches(row.reference(access), scope)
    }
}

/// Whether any member of a to-many relationship meets a condition.
final class AnyMemberTest: RowTest {
    let source: MemberSource
    let destinations: DestinationTests

    init(_ source: MemberSource, _ destinations: DestinationTests) {
        self.source = source
        self.destinations = destinations
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        var found = false
        try scope.view.forEachMember(of: row.reference, in: source) { member in
            found = try destinations.matches(member, scope)
            return !found
        }
        return found
    }
}

/// Whether any member of a to-many relationship is one of these objects.
final class AnyMemberIdentityTest: RowTest {
    let source: MemberSource
    let constants: Set<RowReference>

    init(_ source: MemberSource, _ constants: Set<RowReference>) {
        self.source = source
        self.constants = constants
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        var found = false
        try scope.view.forEachMember(of: row.reference, in: source) { member in
            found = constants.contains(member)
            return !found
        }
        return found
    }
}

/// How many members a to-many relationship has; counted in the index.
final class MemberCountTest: RowTest {
    let source: MemberSource
    let comparison: ComparisonOperator
    let constant: Int64

    init(_ source: MemberSource, _ comparison: ComparisonOperator, _ constant: Int64) {
        self.source = source
        self.comparison = comparison
        self.constant = constant
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        comparison.holds(Int64(try scope.view.memberCount(of: row.reference, in: source)), constant)
    }
}
