/// A database of SQLite, open only for reading. It creates and writes nothing, neither in the file nor beside it.
///
/// An open file shows the one state that it was opened in. Read inside of `read`: if another program has changed the database, that throws
/// the error `changed`, and you open the file again. One thread at a time may use it; another thread opens its own.
///
/// A process that also has the file open through SQLite itself must not use this class: when any descriptor of a file is closed, POSIX
/// drops the process's locks on it, and SQLite's are such locks.
package final class SQLiteFile {
    package let path: String
    package let header: DatabaseHeader
    package let schema: SQLiteSchema
    let pages: PageStore

    private let files: any DatabaseFiles
    private let state: DatabaseState
    /// By folded name.
    private var tables: [String: SQLiteTable] = [:]
    /// The count of calls of `read` that enclose each other.
    private var depth = 0

    /// The pages of the database, those of the write-ahead log included.
    package var pageCount: Int { Int(state.pageCount) }

    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
        /// - Parameter lockTimeout: the longest wait for a writer that holds its lock.
        package static func open(path: String, lockTimeout: Duration = .seconds(1)) throws(SQLiteFileError) -> SQLiteFile {
            try SQLiteFile(files: try POSIXFiles(path: path, lockTimeout: lockTimeout))
        }

        /// Opens the state that the main file has by itself, as if no write-ahead log were beside it. While a checkpoint runs, its pages may be of
        /// several states.
        package static func openWithoutLog(path: String, lockTimeout: Duration = .seconds(1)) throws(SQLiteFileError) -> SQLiteFile {
            try SQLiteFile(files: FilesWithoutLog(files: try POSIXFiles(path: path, lockTimeout: lockTimeout)))
        }
    #endif

    package static func open(_ files: MemoryFiles) throws(SQLiteFileError) -> SQLiteFile { try SQLiteFile(files: files) }

    init(files: any DatabaseFiles) throws(SQLiteFileError) {
        self.files = files
        path = files.path
        let isLocked = try files.lock()
        defer { if isLocked { files.unlock() } }
        state = try Self.state(files, isLocked: isLocked)
        header = state.header
        pages = try state.makePages(files)
        do throws(SQLiteFileError) {
            schema = try Self.schema(pages, header)
        } catch {
            // A change explains the error, if there is one.
            try state.check(files)
            throw error
        }
        try state.check(files)
    }

    /// A writer that never rests changes the files again and again while their state is read.
    private static func state(_ files: any DatabaseFiles, isLocked: Bool) throws(SQLiteFileError) -> DatabaseState {
        for _ in 0..<50 {
            let signs = try DatabaseSigns(files)
            do throws(SQLiteFileError) {
                let state = try DatabaseState(files, isLocked: isLocked)
                guard state.needsTime, files.settle(state.main) else { return state }
            } catch {
                guard try DatabaseSigns(files) != signs else { throw error }
            }
        }
        throw SQLiteFileError(.busy, path: files.path, "another program writes to the file without a rest", remedy: "Try again later.")
    }

    private static func schema(_ pages: PageStore, _ header: DatabaseHeader) throws(SQLiteFileError) -> SQLiteSchema {
        guard pages.pageCount > 0 else { return .empty }
        guard let table = TableParser.parse(SQLiteSchema.definition, encoding: header.encoding) else { return .empty }
        let cursor = SQLiteTableCursor(pages: pages, root: 1, shape: table.shape(header.encoding))
        return try SQLiteSchema(reading: cursor, pages.path)
    }

    // MARK: Consistency

    /// Reads in one transaction: other programs that keep no write-ahead log wait with their commits until `body` is done.
    /// - Throws: `changed` if the database is no longer in the state that was opened, `busy` if a writer keeps its lock for too long,
    ///   and the errors of `body`.
    package func read<Result>(_ body: () throws -> Result) throws -> Result {
        guard depth == 0 else { return try body() }
        let isLocked = try files.lock()
        depth = 1
        defer {
            depth = 0
            if isLocked { files.unlock() }
        }
        try checkUnchanged()
        let result = Swift.Result { try body() }
        // A change explains an error of the body, and spoils its result.
        try checkUnchanged()
        return try result.get()
    }

    /// Throws `changed` if the database is no longer in the state that was opened.
    package func checkUnchanged() throws(SQLiteFileError) { try state.check(files) }

    // MARK: Tables and indexes

    /// - Throws: `noSuchTable`, or `corrupt` if its definition cannot be read.
    package func table(named name: String) throws(SQLiteFileError) -> SQLiteTable {
        let key = SQLName.folded(name)
        if let known = tables[key] { return known }
        guard let entry = schema.entry(.table, named: name) else { throw missing(.noSuchTable, "table", name) }
        let table = try makeTable(entry)
        tables[key] = table
        return table
    }

    private func makeTable(_ entry: SQLiteSchema.Entry) throws(SQLiteFileError) -> SQLiteTable {
        guard let definition = entry.sql.flatMap({ TableParser.parse($0, encoding: header.encoding) }) else {
            throw .corrupt(path, page: 1, "the definition of the table \(entry.name) cannot be read")
        }
        return SQLiteTable(honoringOrder(definition), name: entry.name, rootPage: entry.rootPage, pages: pages, encoding: header.encoding)
    }

    /// - Throws: `noSuchIndex`, or `corrupt` if its definition cannot be read.
    package func index(named name: String) throws(SQLiteFileError) -> SQLiteIndex {
        guard let entry = schema.entry(.index, named: name) else { throw missing(.noSuchIndex, "index", name) }
        let table = try table(named: entry.tableName)
        guard let sql = entry.sql else { return try automaticIndex(entry, table) }
        guard sql.utf8.count <= TableParser.statementMax, let definition = IndexDefinition(sql) else {
            throw .corrupt(path, page: 1, "the definition of the index \(name) cannot be read")
        }
        let columns = honoringOrder(table.definition.completed(definition.columns))
        return SQLiteIndex(entry, columns: columns, isUnique: definition.isUnique, isPartial: definition.isPartial, table: table)
    }

    /// The index of a PRIMARY KEY or UNIQUE clause, which has the clause's number in its name.
    private func automaticIndex(_ entry: SQLiteSchema.Entry, _ table: SQLiteTable) throws(SQLiteFileError) -> SQLiteIndex {
        let keys = table.definition.keys
        guard let number = entry.name.split(separator: "_").last.flatMap({ Int($0) }), keys.indices.contains(number - 1) else {
            throw .corrupt(path, page: 1, "the automatic index \(entry.name) has no key in its table's definition")
        }
        return SQLiteIndex(entry, columns: keys[number - 1].columns, isUnique: true, isPartial: false, table: table)
    }

    private func missing(_ code: SQLiteFileError.Code, _ what: String, _ name: String) -> SQLiteFileError {
        let names = schema.tables.prefix(20).map(\.name).joined(separator: ", ")
        return SQLiteFileError(code, path: path, "the database has no \(what) \(name)", remedy: "Its first tables are: \(names).")
    }

    /// Schemas before format 4 have DESC in their statements, but not in their indexes.
    private func honoringOrder(_ columns: [KeyColumn]) -> [KeyColumn] {
        guard header.schemaFormat < 4 else { return columns }
        return columns.map { KeyColumn(name: $0.name, collation: $0.collation, isDescending: false) }
    }

    private func honoringOrder(_ definition: TableDefinition) -> TableDefinition {
        var definition = definition
        for index in definition.keys.indices { definition.keys[index].columns = honoringOrder(definition.keys[index].columns) }
        return definition
    }
}

// MARK: The write-ahead log

extension SQLiteFile {
    /// The write-ahead log beside a file.
    package struct LogFacts: Sendable, Equatable {
        /// Of committed transactions.
        package let frames: Int
        package let commits: Int
        /// Frames behind the last commit, of a transaction that is not finished.
        package let openFrames: Int
        /// The pages that the log has, each in one frame or more.
        package let pages: Int
    }

    /// nil if there is no log, or one without a valid header.
    package var logFacts: LogFacts? {
        state.log.map { LogFacts(frames: $0.frames, commits: $0.commits, openFrames: $0.openFrames, pages: $0.offsets.count) }
    }

    /// The bytes of the file beside, for checks.
    package struct LogFile: Sendable, Equatable {
        package let bytes: UInt64
        /// False for a file that SQLite ignores: its first bytes are those of no log.
        package let isValid: Bool
        package let salts: [UInt32]
        /// Frames of which SQLite has no use, from an earlier cycle of the log or behind a wrong checksum.
        package let ignoredFrames: Int
        /// The number, from 1, of the first frame whose checksum does not hold, and its offset; nil if there is none.
        package let wrongFrame: Int?
        package let wrongFrameOffset: UInt64?
    }

    /// - Returns: nil if there is no log.
    package func logFile() throws(SQLiteFileError) -> LogFile? {
        guard let source = try files.open(.log) else { return nil }
        let size = try source.status().size
        guard let log = state.log else {
            return LogFile(bytes: size, isValid: size == 0, salts: [], ignoredFrames: 0, wrongFrame: nil, wrongFrameOffset: nil)
        }
        let used = log.frames + log.openFrames, wrong = try log.endsAtWrongChecksum(in: source) ? used + 1 : nil
        return LogFile(
            bytes: size, isValid: true, salts: [log.salts.0, log.salts.1], ignoredFrames: max(0, log.frameCount(inBytes: size) - used),
            wrongFrame: wrong, wrongFrameOffset: wrong.map(log.byteOffset))
    }

    /// Whether a rollback journal is laid over the file.
    package var isRolledBack: Bool {
        if case .journal = state.overlay { return true }
        return false
    }

    /// Whether a checkpoint has copied every page of the log to the file. Reads all of these pages.
    package func isCheckpointed() throws(SQLiteFileError) -> Bool {
        guard case .log = state.overlay else { return true }
        return try pages.overlayIsInFile()
    }
}
