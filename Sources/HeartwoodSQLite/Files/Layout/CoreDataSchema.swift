import Heartwood
internal import HeartwoodSQLiteFile

/// The tables, columns and indexes of a database file, by name, as far as Core Data's layout is matched with them.
struct CoreDataSchema {
    struct Column: Equatable {
        let name: String
        /// In capitals; empty if the statement has none.
        let declaredType: String
    }

    /// The columns of each table, in the order of its statement.
    let tables: [String: [Column]]
    /// The names of all indexes but automatic ones.
    let indexes: Set<String>
    private let names: [String: Set<String>]

    init(tables: [String: [Column]], indexes: Set<String>) {
        self.tables = tables
        self.indexes = indexes
        names = tables.mapValues { Set($0.map(\.name)) }
    }

    /// SQLite's own limit, if it was not built with another one. Source: SQLite, "Implementation Limits For SQLite", 3.
    private static let columnsMax = 2000

    /// Tables without rowids are left out: Core Data makes none.
    init(_ file: SQLiteFile) throws {
        var tables: [String: [Column]] = [:]
        for entry in file.schema.tables {
            let table = try file.table(named: entry.name)
            guard table.hasRowids else { continue }
            guard table.columns.count <= Self.columnsMax else {
                throw CoreDataFileError.damaged(file.path, "the table \(entry.name) has \(table.columns.count) columns, more than SQLite makes")
            }
            tables[entry.name] = table.columns.map { Column(name: $0.name, declaredType: $0.declaredType.uppercased()) }
        }
        self.init(tables: tables, indexes: Set(file.schema.entries.filter { $0.kind == .index && $0.sql != nil }.map(\.name)))
    }

    func has(_ column: String, in table: String) -> Bool { names[table]?.contains(column) ?? false }

    func columns(of table: String) -> Set<String> { names[table] ?? [] }

    /// Facts, "indexes": a to-one column has this index.
    func hasReferenceIndex(_ column: String, of table: String) -> Bool { indexes.contains("\(table)_\(column)_INDEX") }

    /// The tables that store objects or join them. Core Data's own bookkeeping and tables of virtual ones are left out.
    var objectTables: [String] {
        tables.keys.filter { name in
            name.hasPrefix("Z") && !Self.bookkeeping.contains(name) && !name.hasPrefix("Z_RT_")
        }.sorted()
    }

    private static let bookkeeping: Set = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
}
