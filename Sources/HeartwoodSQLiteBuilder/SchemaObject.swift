/// A row of the schema table. Source: SQLite, "Database File Format", 2.6.
struct SchemaObject {
    enum Content {
        case table(SQLiteTableBuilder)
        case index(IndexBuild)
        /// Of a trigger or a view.
        case nothing
    }

    let type: String
    let name: String
    /// The table that an index or a trigger belongs to.
    let table: String
    let sql: String?
    let content: Content

    static let affinities: [ColumnAffinity] = [.text, .text, .text, .integer, .text]

    /// - Returns: the number of the root; 0 if there is none.
    func finish(_ pages: PageWriter) throws(SQLiteBuildError) -> UInt32 {
        switch content {
        case .table(let table): try table.finish()
        case .index(let index): try index.finish(pages)
        case .nothing: 0
        }
    }

    func record(_ root: UInt32, _ layout: RecordLayout, in buffer: RecordBuffer) -> UnsafeRawBufferPointer? {
        buffer.begin(layout)
        var writer = SQLiteRecordWriter(buffer)
        writer.text(type)
        writer.text(name)
        writer.text(table)
        writer.integer(Int64(root))
        if let sql { writer.text(sql) }
        return buffer.finish()
    }
}
