/// The files of a database without its write-ahead log.
struct FilesWithoutLog: DatabaseFiles {
    let files: any DatabaseFiles

    var path: String { files.path }
    var main: any ByteSource { files.main }

    func open(_ part: DatabasePart) throws(SQLiteFileError) -> (any ByteSource)? { part == .log ? nil : try files.open(part) }
    func status(_ part: DatabasePart) throws(SQLiteFileError) -> FileStatus? { part == .log ? nil : try files.status(part) }
    func exists(_ path: String) -> Bool { files.exists(path) }
    /// The caller compares states of its own, so a young time is no reason to wait.
    func settle(_ status: FileStatus) -> Bool { false }
    func lock() throws(SQLiteFileError) -> Bool { try files.lock() }
    func unlock() { files.unlock() }
    func isReserved() -> Bool? { files.isReserved() }
}
