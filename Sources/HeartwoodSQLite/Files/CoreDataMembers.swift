import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// The members of one to-many relationship, by the key of their owner.
///
/// (1) Where an index of the file begins with the owner's column, it gives the members. Else one scan makes a sorted list, which is kept as long as
///     the state of the file lasts.
/// (2) Members of an ordered relationship come by the order column, others by key. Only the order of its values counts. Facts, "order".
/// (3) A member whose row is not there, or is of an entity that is none of the destination's, is left out. Facts, traps, "Filter by Z_ENT" and
///     "Dangling references".
/// (4) A join table states the pairs of a relationship that is its own inverse in one direction or in both; both count. Facts, "many-to-many".
final class CoreDataMembers {
    private struct Entry {
        let owner: Int64
        let order: Int64
        let member: RowReference
    }

    /// The table that states the pairs: the destination's, or a join table.
    private let table: SQLiteTable
    private let ownerColumn: Int
    /// nil where the row itself is the member.
    private let memberColumn: Int?
    private let orderColumn: Int?
    private let isReflexive: Bool
    private let destination: CoreDataDestination
    private let index: SQLiteIndex?
    private var list: [Entry]?

    init(_ place: CoreDataLayout.Place, _ destination: CoreDataDestination, _ reader: CoreDataReader) throws {
        let file = reader.file
        self.destination = destination
        let table: SQLiteTable, owner: String, member: String?, order: String?
        switch place {
        case .inverse(let name, let column, let orderColumn):
            table = try file.table(named: name)
            (owner, member, order, isReflexive) = (column, nil, orderColumn, false)
        case .join(let names):
            table = try file.table(named: names.table)
            (owner, member, order, isReflexive) = (names.source, names.destination, names.order, names.isReflexive)
        case .column, .toOne: preconditionFailure("only a to-many relationship has members")
        }
        func column(_ name: String) throws -> Int {
            guard let index = table.index(ofColumn: name) else {
                throw CoreDataFileError.damaged(file.path, "the table \(table.name) has no column \(name)")
            }
            return index
        }
        self.table = table
        ownerColumn = try column(owner)
        memberColumn = try member.map(column)
        orderColumn = try order.map(column)
        index = isReflexive ? nil : try reader.index(beginningWith: owner, of: table.name)
    }

    func members(of key: Int64) throws -> [RowReference] {
        guard list == nil, let index else { return try listed(key) }
        var found: [Entry] = []
        var cursor = try table.rows()
        try index.forEachEntry(equalTo: [.integer(key)]) { entry in
            guard try cursor.find(entry.rowid) else { return true }
            if let entry = try self.entry(cursor.row, owner: key) { found.append(entry) }
            return true
        }
        return found.sorted(by: Self.precedes).map(\.member)
    }

    private static func precedes(_ a: Entry, _ b: Entry) -> Bool {
        (a.owner, a.order, a.member.rawValue) < (b.owner, b.order, b.member.rawValue)
    }

    private func entry(_ row: borrowing SQLiteRow, owner: Int64) throws -> Entry? {
        let member: RowReference?
        if let memberColumn {
            member = try row.integer(memberColumn).flatMap(reference)
        } else {
            member = try destination.tableID(of: row).flatMap { Self.reference($0, row.rowid) }
        }
        guard let member else { return nil }
        return Entry(owner: owner, order: try Self.order(orderColumn, row), member: member)
    }

    /// A member's place in an order; members without one come last.
    static func order(_ column: Int?, _ row: borrowing SQLiteRow) throws -> Int64 {
        guard let column else { return 0 }
        return try row.integer(column) ?? row.real(column).map { Int64(max(-0x1p62, min($0, 0x1p62))) } ?? .max
    }

    private func reference(_ key: Int64) throws -> RowReference? {
        try destination.tableID(ofRow: key).flatMap { Self.reference($0, key) }
    }

    private static func reference(_ table: TableID, _ key: Int64) -> RowReference? {
        key > 0 && key <= CoreDataRows.keyMax ? RowReference(table: table, row: UInt64(key)) : nil
    }

    // MARK: The list

    private func listed(_ key: Int64) throws -> [RowReference] {
        let list = try list ?? makeList()
        self.list = list
        var low = 0, high = list.count
        while low < high {
            let middle = (low + high) / 2
            if list[middle].owner < key { low = middle + 1 } else { high = middle }
        }
        return list[low...].prefix { $0.owner == key }.map(\.member)
    }

    private func makeList() throws -> [Entry] {
        var entries: [Entry] = []
        try table.forEachRow { row in
            guard let owner = try row.integer(ownerColumn), let entry = try self.entry(row, owner: owner) else { return true }
            entries.append(entry)
            if isReflexive, let mirrored = try reference(owner) {
                entries.append(Entry(owner: Int64(entry.member.row), order: entry.order, member: mirrored))
            }
            return true
        }
        entries.sort(by: Self.precedes)
        guard isReflexive else { return entries }
        var seen: Set<RowReference> = [], last: Int64?
        return entries.filter { entry in
            if entry.owner != last { seen = [] }
            last = entry.owner
            return seen.insert(entry.member).inserted
        }
    }
}
