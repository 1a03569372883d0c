/// A table with rowids that is being built.
package final class SQLiteTableBuilder {
    package let name: String
    let layout: RecordLayout
    private let core: BuildCore
    private let tree: TableTree
    private var indexes: [IndexBuild] = []

    init(_ name: String, _ layout: RecordLayout, _ core: BuildCore) {
        self.name = name
        self.layout = layout
        self.core = core
        tree = TableTree(pages: core.pages)
        core.record.reserve(columns: layout.columns)
    }

    /// The rows so far.
    package var count: Int { tree.count }

    func add(_ index: IndexBuild) {
        precondition(count == 0, "an index is declared before its table's first row")
        indexes.append(index)
    }

    /// Appends a row, whose values `body` writes.
    /// - Throws: `rowidOrder` if the rowid is not above the one before, `tooLarge`, and the errors of `body`: the row is not appended then,
    ///   and others may be. After any other error the file is removed.
    package func append(rowid: Int64, _ body: (inout SQLiteRecordWriter) throws -> Void) throws {
        try core.check()
        guard count == 0 || rowid > tree.lastRowid else { throw wrongOrder(rowid) }
        core.record.begin(layout)
        defer { core.record.cancel() }
        var writer = SQLiteRecordWriter(core.record)
        try body(&writer)
        guard let record = core.record.finish() else { throw tooLarge(rowid) }
        try core.run { () throws(SQLiteBuildError) in try append(rowid, record) }
    }

    private func append(_ rowid: Int64, _ record: UnsafeRawBufferPointer) throws(SQLiteBuildError) {
        for index in indexes { try index.add(core.record, rowid: rowid) }
        try tree.append(rowid: rowid, record)
    }

    /// - Returns: the number of the root.
    func finish() throws(SQLiteBuildError) -> UInt32 { try tree.finish() }

    private func wrongOrder(_ rowid: Int64) -> SQLiteBuildError {
        SQLiteBuildError(
            .rowidOrder, path: core.path, "the row \(rowid) of \(name) comes behind the row \(tree.lastRowid)",
            remedy: "Append rows by rising rowids.")
    }

    private func tooLarge(_ rowid: Int64) -> SQLiteBuildError {
        SQLiteBuildError(
            .tooLarge, path: core.path, "the row \(rowid) of \(name) has more than \(PageFormat.recordMax) bytes",
            remedy: "Keep long values in files of their own.")
    }
}
