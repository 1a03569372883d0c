/// The entries of a database's schema table. Source: SQLite, "The Schema Table".
package struct SQLiteSchema: Sendable {
    package struct Entry: Sendable {
        package enum Kind: Sendable {
            case table, virtualTable, index, view, trigger
            /// A word that SQLite does not write.
            case other

            /// Different for each.
            fileprivate var prefix: String {
                switch self {
                case .table: "t"
                case .virtualTable: "v"
                case .index: "i"
                case .view: "w"
                case .trigger: "g"
                case .other: "o"
                }
            }
        }

        package let kind: Kind
        package let name: String
        /// Of an index or a trigger the table that it belongs to.
        package let tableName: String
        /// 0 if the entry has no pages.
        package let rootPage: UInt32
        /// nil for automatic indexes.
        package let sql: String?
    }

    package let entries: [Entry]
    /// A file may have very many tables, so a name is not searched for in the list.
    private let indexByName: [String: Int]

    static let empty = SQLiteSchema(entries: [])

    private init(entries: [Entry]) {
        self.entries = entries
        indexByName = Dictionary(
            entries.enumerated().map { (Self.key($0.element.kind, $0.element.name), $0.offset) }
        ) { first, _ in first }
    }

    /// A text: the first dictionary with keys of another type makes the runtime search all of a program's libraries, once in each process.
    private static func key(_ kind: Entry.Kind, _ name: String) -> String { kind.prefix + SQLName.folded(name) }

    package var tables: [Entry] { entries.filter { $0.kind == .table } }

    package func entry(_ kind: Entry.Kind, named name: String) -> Entry? {
        indexByName[Self.key(kind, name)].map { entries[$0] }
    }

    package func indexes(ofTable name: String) -> [Entry] {
        entries.filter { $0.kind == .index && SQLName.equal($0.tableName, name) }
    }

    /// The schema table's own statement, which the file does not have.
    static let definition = "CREATE TABLE sqlite_schema(type text, name text, tbl_name text, rootpage integer, sql text)"

    init(reading cursor: consuming SQLiteTableCursor, _ path: String) throws(SQLiteFileError) {
        var entries: [Entry] = []
        while try cursor.next() { entries.append(try Self.entry(cursor.row, path)) }
        self.init(entries: entries)
    }

    private static func entry(_ row: borrowing SQLiteRow, _ path: String) throws(SQLiteFileError) -> Entry {
        guard let type = try row.string(0), let name = try row.string(1), let tableName = try row.string(2) else {
            throw .corrupt(path, page: 1, "the row \(row.rowid) of the schema table has no name")
        }
        // A view's root page is 0 or NULL.
        let stored = try row.integer(3) ?? 0
        guard let root = UInt32(exactly: stored) else {
            throw .corrupt(path, page: 1, "the root page \(stored) of \(name) is no page number")
        }
        let sql = try row.string(4)
        return Entry(kind: kind(type, root), name: name, tableName: tableName, rootPage: root, sql: sql)
    }

    private static func kind(_ type: String, _ root: UInt32) -> Entry.Kind {
        switch type {
        case "table": root == 0 ? .virtualTable : .table
        case "index": .index
        case "view": .view
        case "trigger": .trigger
        default: .other
        }
    }
}
