import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// The pairs of one to-many relationship in the order of the file, for a pass over all of them.
///
/// (1) A row of a join table states a pair; so does a row of the destination's table whose column names an owner. Facts, "many-to-many",
///     "to-many without inverse", "order".
/// (2) A pair whose owner or member is not there is left out and noted. A row of an entity that is none of the destination's states no pair:
///     facts, traps.
/// (3) A row states a pair of a relationship that is its own inverse in both directions; the same pair may come twice. Facts, "many-to-many".
struct CoreDataPairs: ~Copyable {
    struct Pair {
        let owner, member: RowReference
        /// The places in the owner's order and in the member's.
        let order, inverseOrder: Int64
    }

    private let name: String
    private let tableName: String
    private let owners, members: CoreDataDestination
    private let ownerColumn: Int
    /// nil where the row itself is the member.
    private let memberColumn: Int?
    private let orderColumn, inverseOrderColumn: Int?
    private let transfer: CoreDataTransfer
    /// Whether the owner's column belongs to an inverse relationship, which notes what dangles.
    private let hasInverseColumn: Bool
    private var cursor: SQLiteTableCursor
    let isReflexive: Bool

    /// - Parameters:
    ///   - name: the relationship's, for findings.
    ///   - inverse: the place of the inverse; nil without one.
    init(
        _ name: String, _ place: CoreDataLayout.Place, inverse: CoreDataLayout.Place?, owners: CoreDataDestination, members: CoreDataDestination,
        _ reader: CoreDataReader, _ transfer: CoreDataTransfer
    ) throws {
        let table: SQLiteTable, owner: String, member: String?, order: String?, isReflexive: Bool
        switch place {
        case .inverse(let name, let column, let orderColumn):
            table = try reader.file.table(named: name)
            (owner, member, order, isReflexive) = (column, nil, orderColumn, false)
        case .join(let names):
            table = try reader.file.table(named: names.table)
            (owner, member, order, isReflexive) = (names.source, names.destination, names.order, names.isReflexive)
        case .column, .toOne: preconditionFailure("only a to-many relationship has pairs")
        }
        func column(_ name: String) throws -> Int {
            guard let index = table.index(ofColumn: name) else {
                throw CoreDataFileError.damaged(reader.file.path, "the table \(table.name) has no column \(name)")
            }
            return index
        }
        let inverseOrder: String? = if case .join(let names)? = inverse { names.order } else { nil }
        let columns = try (owner: column(owner), member: member.map(column), order: order.map(column), inverse: inverseOrder.map(column))
        let rows = try table.rows()
        // Nothing throws from here on: a cursor cannot be taken back.
        self.name = name
        tableName = table.name
        (self.owners, self.members, self.transfer) = (owners, members, transfer)
        (ownerColumn, memberColumn, orderColumn, inverseOrderColumn) = columns
        hasInverseColumn = if case .toOne? = inverse { true } else { false }
        self.isReflexive = isReflexive
        cursor = rows
    }

    /// - Returns: nil at the end.
    mutating func next() throws -> Pair? {
        while try cursor.next() {
            if let pair = try pair() { return pair }
        }
        return nil
    }

    private mutating func pair() throws -> Pair? {
        guard let key = try cursor.row.integer(ownerColumn), let member = try member() else { return nil }
        guard let owner = try Self.reference(key, owners) else {
            if !hasInverseColumn { note("the owner, row \(key) of \(owners.table.name),") }
            return nil
        }
        return Pair(
            owner: owner, member: member, order: try CoreDataMembers.order(orderColumn, cursor.row),
            inverseOrder: try CoreDataMembers.order(inverseOrderColumn, cursor.row))
    }

    private mutating func member() throws -> RowReference? {
        guard let memberColumn else {
            let rowid = cursor.row.rowid
            guard rowid > 0, rowid <= CoreDataRows.keyMax, let table = try members.tableID(of: cursor.row) else { return nil }
            return RowReference(table: table, row: UInt64(rowid))
        }
        guard let key = try cursor.row.integer(memberColumn) else { return nil }
        if let member = try Self.reference(key, members) { return member }
        note("the member, row \(key) of \(members.table.name),")
        return nil
    }

    private static func reference(_ key: Int64, _ destination: CoreDataDestination) throws -> RowReference? {
        guard key > 0, key <= CoreDataRows.keyMax, let table = try destination.tableID(ofRow: key) else { return nil }
        return RowReference(table: table, row: UInt64(key))
    }

    private func note(_ what: String) { transfer.noteDangling("\(name), row \(cursor.row.rowid) of \(tableName)", what) }
}
