/// Makes a new database of SQLite in one pass, without SQLite: tables from left to right as rows come, then the indexes.
///
/// Memory is bounded by the depth of the trees, the longest row, and 16 MiB of index entries. One thread at a time may use a builder and its
/// tables. A builder that is released before `finish` removes its file.
package final class SQLiteFileBuilder {
    package struct Options: Sendable {
        /// A power of two from 512 to 65536.
        package var pageSize = 4096
        package var userVersion: Int32 = 0
        package var applicationID: Int32 = 0

        package init() {}
    }

    private let core: BuildCore
    private let options: Options
    private var schema: [SchemaObject] = []
    private var names: Set<String> = []

    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
        /// Makes the file, with the permissions 0644 less those of the process's mask.
        /// - Throws: `exists` if something is at the path, `noFolder`, `noSpace`, `io`.
        package static func create(path: String, options: Options = Options()) throws -> SQLiteFileBuilder {
            try SQLiteFileBuilder(path: path, options: options, files: POSIXBuildFiles())
        }
    #endif

    /// - Parameters:
    ///   - sortMemory: the bytes of index entries in memory.
    ///   - fanIn: the most sorted runs that are merged at once.
    init(path: String, options: Options, files: any BuildFiles, sortMemory: Int = 16 << 20, fanIn: Int = 64) throws(SQLiteBuildError) {
        let size = options.pageSize
        precondition(size >= 512 && size <= 65536 && size & (size - 1) == 0, "a page size is a power of two from 512 to 65536")
        self.options = options
        core = try BuildCore(path: path, pageSize: size, files: files, sortMemory: sortMemory, fanIn: fanIn)
    }

    // A table may live longer, and must not go on without the others.
    deinit { core.abandon(nil) }

    // MARK: The schema

    /// Adds a table with rowids.
    /// - Parameters:
    ///   - statement: CREATE TABLE, as SQLite keeps it. The columns' types decide how numbers are stored.
    ///   - columns: the columns that the statement declares.
    ///   - rowidColumn: the INTEGER PRIMARY KEY.
    /// - Throws: `invalidSchema` if the name is taken, or if the statement has another number of columns.
    package func table(named name: String, statement: String, columns: Int, rowidColumn: Int?) throws -> SQLiteTableBuilder {
        precondition(columns > 0 && rowidColumn.map { $0 >= 0 && $0 < columns } ?? true, "a table has columns, and its rowid is one of them")
        let affinities = ColumnAffinity.list(statement)
        guard affinities.count == columns else {
            throw SQLiteBuildError.invalidSchema(core.path, "the statement of \(name) has \(affinities.count) columns instead of \(columns)")
        }
        try checkCount(columns, name)
        try take(name)
        let table = SQLiteTableBuilder(name, RecordLayout(affinities: affinities, rowidColumn: rowidColumn), core)
        schema.append(SchemaObject(type: "table", name: name, table: name, sql: statement, content: .table(table)))
        return table
    }

    /// Adds an index, which gets its entries as rows are appended. So it is declared before the table's first row.
    /// - Parameters:
    ///   - statement: CREATE INDEX, as SQLite keeps it; nil for the index of a PRIMARY KEY or UNIQUE clause in the table's statement, whose
    ///     name is `sqlite_autoindex_TABLE_N`.
    ///   - columns: in the order of the key. Text is in BINARY order.
    ///   - isUnique: `finish` throws `duplicateKey` for two rows with equal values and no NULL among them.
    ///   - condition: what the statement's WHERE clause says; nil if it has none.
    package func index(
        named name: String, statement: String?, on table: SQLiteTableBuilder, columns: [SQLiteIndexColumn], isUnique: Bool,
        where condition: SQLiteRowCondition? = nil
    ) throws {
        precondition(!columns.isEmpty, "an index has columns")
        precondition(columns.allSatisfy { $0.column.map { $0 >= 0 && $0 < table.layout.columns } ?? true }, "a table has its index's columns")
        try checkCount(columns.count, name)
        try take(name)
        let index = IndexBuild(name, table, columns, isUnique: isUnique, where: condition, core)
        table.add(index)
        schema.append(SchemaObject(type: "index", name: name, table: table.name, sql: statement, content: .index(index)))
    }

    /// Adds a trigger or a view, which has no pages.
    /// - Parameter table: of a trigger the table, of a view its own name.
    package func statement(type: String, named name: String, table: String, sql: String) throws {
        // SQLite lets a trigger have the name of a table or an index.
        if type == "trigger" { try core.check() } else { try take(name) }
        schema.append(SchemaObject(type: type, name: name, table: table, sql: sql, content: .nothing))
    }

    /// Tables, indexes and views have one space of names. Case counts only beyond ASCII.
    private func take(_ name: String) throws {
        try core.check()
        let key = String(decoding: name.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        guard names.insert(key).inserted else { throw SQLiteBuildError.invalidSchema(core.path, "two tables or indexes have the name \(name)") }
    }

    private func checkCount(_ columns: Int, _ name: String) throws {
        guard columns > PageFormat.columnsMax else { return }
        let max = PageFormat.columnsMax
        throw SQLiteBuildError.invalidSchema(core.path, "\(name) has \(columns) columns, and SQLite reads at most \(max)")
    }

    // MARK: The end

    /// Writes the indexes, the schema table and the header, and makes the file and its name durable. Nothing can be appended afterwards.
    /// - Throws: `duplicateKey`, `tooLarge`, `noSpace`, `io`. The file is removed then.
    package func finish() throws {
        try core.check()
        try core.run { () throws(SQLiteBuildError) in
            let tree = TableTree(pages: core.pages)
            let layout = RecordLayout(affinities: SchemaObject.affinities, rowidColumn: nil)
            core.record.reserve(columns: layout.columns)
            for (position, object) in schema.enumerated() {
                let root = try object.finish(core.pages)
                guard let row = object.record(root, layout, in: core.record) else {
                    throw SQLiteBuildError.invalidSchema(core.path, "the statement of \(object.name) is too long")
                }
                try tree.append(rowid: Int64(position + 1), row)
            }
            try writeFirstPage(try tree.finishExceptRoot())
        }
    }

    private func writeFirstPage(_ root: CellPage) throws(SQLiteBuildError) {
        let size = options.pageSize
        let page = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer { page.deallocate() }
        page.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        if !root.copyRoot(toFirstPage: page) { CellPage.writeFirstPage(page, size: size, onlyChild: try core.pages.append(root)) }
        FileHeader.write(to: page, options, pageCount: core.pages.count)
        try core.finish(firstPage: page)
    }

    /// Removes the file, unless it is finished. Does nothing the second time.
    package func abandon() { core.abandon(nil) }
}
