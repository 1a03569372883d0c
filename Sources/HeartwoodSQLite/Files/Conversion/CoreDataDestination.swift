import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// The entities that a relationship's destination may have, in one table of the file.
final class CoreDataDestination {
    let table: SQLiteTable
    /// nil where several entities may be meant.
    let only: TableID?
    /// The tables of the entities with rows, by entity number.
    let members: [Int64: TableID]
    private let entityColumn: Int
    private var finder: SQLiteTableCursor
    /// The keys of the table's rows, once they are learned: then no row is searched in the file.
    var keys: CoreDataKeys?

    init(_ table: SQLiteTable, members: [Int64: TableID], path: String) throws {
        self.table = table
        self.members = members
        only = members.count == 1 ? members.first?.value : nil
        finder = try table.rows()
        guard let column = table.index(ofColumn: "Z_ENT") else {
            throw CoreDataFileError.damaged(path, "the table \(table.name) has no column Z_ENT")
        }
        entityColumn = column
    }

    /// Returns the table of a row's entity; nil if there is no such row, or if it is of another entity.
    func tableID(ofRow key: Int64) throws -> TableID? {
        if let keys { return keys.entity(of: key).flatMap { members[$0] } }
        return try finder.find(key) ? tableID(of: finder.row) : nil
    }

    func tableID(of row: borrowing SQLiteRow) throws -> TableID? {
        try row.integer(entityColumn).flatMap { members[$0] }
    }
}
