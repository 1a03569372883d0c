/// One table of an open file: its columns and the ways to its rows.
package struct SQLiteTable {
    package struct Column: Sendable {
        package let name: String
        /// As the statement has it; empty if it has none.
        package let declaredType: String
        package let affinity: Affinity
        /// Whether the column is another name of the rowid.
        package let isRowid: Bool
        /// Whether rows have a value of the column. SQLite computes the others from an expression.
        package let isStored: Bool
    }

    package let name: String
    package let rootPage: UInt32
    package let columns: [Column]
    /// Whether rows have rowids. A table without them is an index of its primary key.
    package let hasRowids: Bool

    let definition: TableDefinition
    // Not the file, which keeps its tables.
    let pages: PageStore
    let encoding: DatabaseHeader.TextEncoding
    private let shape: RecordShape
    /// The primary key of a table without rowids.
    private let keyColumns: [KeyColumn]

    init(_ definition: TableDefinition, name: String, rootPage: UInt32, pages: PageStore, encoding: DatabaseHeader.TextEncoding) {
        self.definition = definition
        self.name = name
        self.rootPage = rootPage
        self.pages = pages
        self.encoding = encoding
        hasRowids = definition.hasRowids
        keyColumns = definition.hasRowids ? [] : definition.storedKey
        columns = definition.columns.enumerated().map { index, column in
            Column(
                name: column.name, declaredType: column.declaredType, affinity: definition.affinity(column),
                isRowid: index == definition.rowidColumn, isStored: column.storage == .stored)
        }
        shape = definition.shape(encoding)
    }

    package func index(ofColumn name: String) -> Int? { definition.index(ofColumn: name) }

    /// The rows by rowid.
    /// - Throws: `unsupported` for a table without rowids.
    package func rows() throws(SQLiteFileError) -> SQLiteTableCursor {
        guard hasRowids else {
            throw SQLiteFileError(.unsupported, path: pages.path, "the table \(name) has no rowids", remedy: "Read its entries by its primary key.")
        }
        return SQLiteTableCursor(pages: pages, root: rootPage, shape: shape)
    }

    /// The rows of a table without rowids, by primary key.
    /// - Throws: `unsupported` for a table with rowids.
    package func entries() throws(SQLiteFileError) -> SQLiteIndexCursor {
        guard !hasRowids else {
            throw SQLiteFileError(.unsupported, path: pages.path, "the table \(name) has rowids", remedy: "Read its rows by rowid.")
        }
        return SQLiteIndexCursor(pages: pages, root: rootPage, shape: shape, keyColumns: keyColumns, rowidField: nil)
    }

    /// Calls `body` with each row, in the order of rowids or of the primary key, until it returns false.
    /// - Parameter rowid: the least one, for a table that has rowids.
    package func forEachRow(from rowid: Int64 = .min, _ body: (borrowing SQLiteRow) throws -> Bool) throws {
        if hasRowids {
            var cursor = try rows()
            if rowid != .min { try cursor.move(toAtLeast: rowid) }
            while try cursor.next() { guard try body(cursor.row) else { return } }
        } else {
            var cursor = try entries()
            while try cursor.next() { guard try body(cursor.row) else { return } }
        }
    }

    /// The count of rows. It reads the pages of the tree, but no record.
    package func rowCount() throws(SQLiteFileError) -> Int {
        try TreeCount.entries(pages: pages, root: rootPage, isTable: hasRowids)
    }

    /// - Returns: nil if the table is empty.
    package func greatestRowid() throws(SQLiteFileError) -> Int64? {
        var cursor = try rows()
        return try cursor.last() ? cursor.row.rowid : nil
    }
}

extension TableDefinition {
    /// The positions of the columns in a record. Without rowids the primary key's come first.
    func shape(_ encoding: DatabaseHeader.TextEncoding) -> RecordShape {
        var shapes = columns.map { RecordShape.Column(field: -1, isReal: affinity($0) == .real) }
        if let rowidColumn { shapes[rowidColumn].isRowid = true }
        for (field, column) in storedOrder.enumerated() { shapes[column].field = field }
        let missing = columns.map { column -> SQLiteValue? in
            guard column.storage == .stored, case .literal(let value) = column.missing else { return nil }
            return value
        }
        return RecordShape(columns: shapes, missing: missing, encoding: encoding)
    }

    /// The columns in the order of a record's fields.
    private var storedOrder: [Int] {
        let stored = columns.indices.filter { columns[$0].storage == .stored }
        guard !hasRowids else { return stored }
        let indexes = indexesByName
        let key = storedKey.compactMap { $0.name.flatMap { indexes[SQLName.folded($0)] } }
        return key + stored.filter { [known = Set(key)] in !known.contains($0) }
    }

    /// The primary key, without the columns that it repeats.
    var storedKey: [KeyColumn] {
        var seen: Set<String> = []
        return (keys.first(where: \.isPrimary)?.columns ?? []).filter { seen.insert(SQLName.folded($0.name ?? "")).inserted }
    }
}
