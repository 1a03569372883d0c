/// One index of an open file. Its entries have the indexed columns, then what leads to the row.
package struct SQLiteIndex {
    package let name: String
    package let tableName: String
    package let rootPage: UInt32
    package let columns: [KeyColumn]
    package let isUnique: Bool
    /// Whether rows are left out that a condition excludes.
    package let isPartial: Bool

    private let pages: PageStore
    private let hasRowids: Bool
    private let shape: RecordShape

    init(_ entry: SQLiteSchema.Entry, columns: [KeyColumn], isUnique: Bool, isPartial: Bool, table: SQLiteTable) {
        name = entry.name
        tableName = entry.tableName
        rootPage = entry.rootPage
        self.columns = columns
        self.isUnique = isUnique
        self.isPartial = isPartial
        pages = table.pages
        hasRowids = table.hasRowids
        let key = hasRowids ? 1 : table.definition.storedKey.count
        let fields = (0..<columns.count + key).map { index in
            let column = index < columns.count ? columns[index].name.flatMap(table.index(ofColumn:)) : nil
            return RecordShape.Column(field: index, isReal: column.map { table.columns[$0].affinity == .real } ?? false)
        }
        shape = RecordShape(columns: fields, missing: fields.map { _ in .null }, encoding: table.encoding)
    }

    /// The entries by key. The row's columns are the index's; its rowid is that of the table's row.
    package func entries() -> SQLiteIndexCursor {
        let rowid = hasRowids ? columns.count : nil
        return SQLiteIndexCursor(pages: pages, root: rootPage, shape: shape, keyColumns: columns, rowidField: rowid)
    }

    /// Calls `body` with each entry of a range of keys, until it returns false. A key has values for the first columns, or for all.
    /// - Parameters:
    ///   - lower: the least key; empty for no bound.
    ///   - upper: the greatest key; empty for no bound.
    package func forEachEntry(from lower: [SQLiteValue], through upper: [SQLiteValue], _ body: (borrowing SQLiteRow) throws -> Bool) throws {
        var cursor = entries()
        try cursor.move(.before, key: lower)
        while try cursor.next() {
            if !upper.isEmpty, try cursor.compare(with: upper) > 0 { return }
            guard try body(cursor.row) else { return }
        }
    }

    /// Calls `body` with each entry of a key, until it returns false.
    package func forEachEntry(equalTo key: [SQLiteValue], _ body: (borrowing SQLiteRow) throws -> Bool) throws {
        try forEachEntry(from: key, through: key, body)
    }

    package func entryCount() throws(SQLiteFileError) -> Int {
        try TreeCount.entries(pages: pages, root: rootPage, isTable: false)
    }
}
