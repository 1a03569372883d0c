/// One committed state of a database, and the signs by which a later state shows.
///
/// A reader takes no part in the write-ahead log's shared memory, for it would have to create that. So it cannot hold a writer back, and
/// looks for changes instead. The argument that what it read is one state:
///
/// (1) In rollback mode only the holder of the EXCLUSIVE lock writes to the file, and none can get it while our SHARED lock is held. So
///     during a transaction of reading the file does not change.
/// (2) Between two transactions of reading, a commit in rollback mode shows in the change counter, in the header.
/// (3) In log mode a writer appends frames. A checkpoint copies committed frames to the file, and no others. So a page of the
///     file that our log does not have is newer than our state only if the log had a commit behind ours when the page was written.
/// (4) That commit stays in the log, or the log begins anew with other salts, or the log is cut or removed. `check` finds each of them.
///     It runs after the reading, so it finds all that happened before or during it.
/// (5) A page that our log has is read from the log. Its frame stays as it was until the salts change, which (4) finds.
/// (6) Without frames of our own, a whole cycle (commit, checkpoint, cut) could fall between two checks. It changes the file's
///     modification time, which counts only then: with frames, a checkpoint of them changes the time but no page that we read. If a
///     time is so young that two changes may have it, opening waits until it is older.
/// (7) A rollback journal that no running writer owns is laid over the file, as SQLite would roll it back. SQLite removes it when it
///     does, and that shows.
///
/// Limits: a file system without locks leaves (1) to the change counter and the times; one whose times step by more than 10 ms weakens (6).
struct DatabaseState {
    enum Overlay {
        case none
        case log(WriteAheadLog, any ByteSource, FileStatus)
        case journal(RollbackJournal, any ByteSource, FileStatus)
    }

    let header: DatabaseHeader
    let pageCount: UInt32
    let overlay: Overlay
    /// Of the log beside the file; nil if there is none.
    let log: WriteAheadLog?
    let main: FileStatus
    private let headerBytes: [UInt8]

    /// The caller holds the SHARED lock, unless `isLocked` is false.
    init(_ files: any DatabaseFiles, isLocked: Bool) throws(SQLiteFileError) {
        main = try files.main.status()
        headerBytes = try files.main.prefix(DatabaseHeader.Layout.size)
        guard main.size > 0 else {
            // SQLite takes a file of no bytes for an empty database, and ignores a log beside it.
            (header, pageCount, overlay, log) = (.empty, 0, .none, nil)
            return
        }
        let hot = try Self.hotJournal(files, isLocked: isLocked)
        let logSource = try files.open(.log)
        if let logSource {
            log = try WriteAheadLog(reading: logSource, path: files.path + DatabasePart.log.rawValue)
        } else {
            log = nil
        }
        if let (journal, source) = hot {
            guard log?.commits ?? 0 == 0 else { throw Self.hotJournalError(files.path, "beside a write-ahead log") }
            overlay = .journal(journal, source, try source.status())
            pageCount = journal.pageCount
            header = try Self.header(files, page: try source.page1(journal.offsets))
        } else if let log, let source = logSource, log.commits > 0 {
            guard try source.prefix(WriteAheadLog.Layout.header) == log.header else { throw .changed(files.path, "the write-ahead log began anew") }
            overlay = .log(log, source, try source.status())
            pageCount = log.pageCount
            header = try Self.header(files, under: log, page: try source.page1(log.offsets))
        } else {
            overlay = .none
            header = try Self.header(files, page: nil)
            pageCount = try Self.pageCount(header, main.size, files.path)
        }
    }

    // MARK: Reading

    /// - Parameter page: page 1 of the overlay, if it has one.
    private static func header(_ files: any DatabaseFiles, page: [UInt8]?) throws(SQLiteFileError) -> DatabaseHeader {
        let size = try files.main.status().size
        if let page { return try DatabaseHeader(page, fileSize: size, path: files.path) }
        return try DatabaseHeader(try files.main.prefix(1024), fileSize: size, path: files.path)
    }

    private static func header(_ files: any DatabaseFiles, under log: WriteAheadLog, page: [UInt8]?) throws(SQLiteFileError) -> DatabaseHeader {
        let own = try header(files, page: nil)
        guard log.pageSize == own.pageSize else {
            throw foreignLog(files.path, "its pages have \(log.pageSize) bytes, the file's have \(own.pageSize)")
        }
        guard let page else { return own }
        guard let newer = try? DatabaseHeader(page, fileSize: UInt64(log.pageSize), path: files.path), newer.pageSize == own.pageSize else {
            throw foreignLog(files.path, "its page 1 has another header")
        }
        guard own.pagesInHeader <= 1 || (newer.encoding == own.encoding && newer.reservedBytes == own.reservedBytes) else {
            throw foreignLog(files.path, "its header has another text encoding or other reserved bytes")
        }
        return newer
    }

    private static func foreignLog(_ path: String, _ reason: String) -> SQLiteFileError {
        SQLiteFileError(
            .foreignLog, path: path, "the write-ahead log beside the file belongs to another database: \(reason)",
            remedy: "Copy the database again together with the file that has its name and ends in -wal.")
    }

    /// Source: SQLite, "Database File Format", 1.3.8, and lockBtree in btree.c.
    private static func pageCount(_ header: DatabaseHeader, _ size: UInt64, _ path: String) throws(SQLiteFileError) -> UInt32 {
        let inFile = UInt32(clamping: (size + UInt64(header.pageSize) - 1) / UInt64(header.pageSize))
        guard let trusted = header.trustedPageCount else { return inFile }
        guard trusted <= inFile else {
            throw SQLiteFileError(
                .truncated, path: path, offset: size, "the file ends after \(inFile) of its \(trusted) pages",
                remedy: "Restore a whole copy of the database, with its log if there is one.")
        }
        return trusted
    }

    /// The journal that SQLite would roll back.
    private static func hotJournal(
        _ files: any DatabaseFiles, isLocked: Bool
    ) throws(SQLiteFileError) -> (RollbackJournal, any ByteSource)? {
        guard let source = try files.open(.journal) else { return nil }
        let pageSize = try files.main.prefix(DatabaseHeader.Layout.size).pageSizeInHeader
        guard let journal = try RollbackJournal(reading: source, pageSizeOfFile: pageSize, exists: files.exists) else { return nil }
        switch files.isReserved() {
        // A running writer owns the journal. It has not written to the file, as our lock shows.
        case true? where isLocked: return nil
        case false? where isLocked: return (journal, source)
        default: throw hotJournalError(files.path, "that a running program may own")
        }
    }

    private static func hotJournalError(_ path: String, _ what: String) -> SQLiteFileError {
        SQLiteFileError(
            .hotJournal, path: path, "the file has an unfinished transaction in a journal \(what)",
            remedy: "Open the database with its own program first, and close it there.")
    }

    // MARK: Checking

    /// Whether the modification time is a sign of changes, by (6).
    var needsTime: Bool {
        if case .none = overlay { return header.usesWriteAheadLog }
        return false
    }

    /// Throws `changed` if the database is no longer in this state.
    func check(_ files: any DatabaseFiles) throws(SQLiteFileError) {
        guard let now = try files.status(.main), now.isSameFile(as: main) else { throw .changed(files.path, "another file has its name now") }
        switch overlay {
        case .log(let log, let source, let status): try check(log, source, status, files)
        case .journal(_, _, let status):
            guard try files.status(.journal) == status, now == main else { throw .changed(files.path, "the journal or the file changed") }
        case .none: try checkWithoutOverlay(now, files)
        }
    }

    private func check(_ log: WriteAheadLog, _ source: any ByteSource, _ status: FileStatus, _ files: any DatabaseFiles) throws(SQLiteFileError) {
        guard let now = try files.status(.log), now.isSameFile(as: status) else { throw .changed(files.path, "its write-ahead log was removed") }
        guard try source.prefix(WriteAheadLog.Layout.header) == log.header else { throw .changed(files.path, "its write-ahead log began anew") }
        guard try !log.isContinued(in: source) else { throw .changed(files.path, "its write-ahead log has a later commit") }
    }

    private func checkWithoutOverlay(_ now: FileStatus, _ files: any DatabaseFiles) throws(SQLiteFileError) {
        guard now == main, try files.main.prefix(DatabaseHeader.Layout.size) == headerBytes else { throw .changed(files.path, "the file changed") }
        guard main.size > 0 else { return }
        if let size = try files.status(.log)?.size, size > WriteAheadLog.Layout.header, let source = try files.open(.log),
            let log = try WriteAheadLog(reading: source, path: files.path), log.commits > 0
        {
            throw .changed(files.path, "a write-ahead log has appeared")
        }
        guard try files.status(.journal) != nil, files.isReserved() == false, let source = try files.open(.journal),
            try RollbackJournal(reading: source, pageSizeOfFile: header.pageSize, exists: files.exists) != nil
        else { return }
        throw .changed(files.path, "a journal has appeared")
    }

    func makePages(_ files: any DatabaseFiles) throws(SQLiteFileError) -> PageStore {
        let pages: PageOverlay?
        switch overlay {
        case .none: pages = nil
        case .log(let log, let source, _): pages = PageOverlay(name: "write-ahead log", source: source, offsets: log.offsets)
        case .journal(let journal, let source, _):
            guard journal.pageSize == header.pageSize else { throw Self.hotJournalError(files.path, "with another page size") }
            pages = PageOverlay(name: "journal", source: source, offsets: journal.offsets)
        }
        return PageStore(path: files.path, header: header, pageCount: pageCount, main: files.main, mainSize: main.size, overlay: pages)
    }
}

/// The signs by which a change of the files shows while their state is being read.
struct DatabaseSigns: Equatable {
    private let main: FileStatus
    private let header: [UInt8]
    private let log: FileStatus?
    private let journal: FileStatus?

    init(_ files: any DatabaseFiles) throws(SQLiteFileError) {
        main = try files.main.status()
        header = try files.main.prefix(DatabaseHeader.Layout.size)
        log = try files.status(.log)
        journal = try files.status(.journal)
    }
}

extension ByteSource {
    /// The start of page 1, if an overlay has it.
    fileprivate func page1(_ offsets: [UInt32: UInt64]) throws(SQLiteFileError) -> [UInt8]? {
        guard let offset = offsets[1] else { return nil }
        return try bytes(at: offset, count: DatabaseHeader.Layout.size)
    }
}

extension [UInt8] {
    fileprivate var pageSizeInHeader: Int {
        guard count >= 18 else { return 0 }
        let size = Int(self[16]) << 8 | Int(self[17])
        return size == 1 ? 65536 : size
    }
}
