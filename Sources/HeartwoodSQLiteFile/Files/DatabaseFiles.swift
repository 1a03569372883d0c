/// A file of a database, or bytes that stand for one.
protocol ByteSource: Sendable {
    /// - Returns: the count of bytes read, fewer than asked only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteFileError) -> Int
    func status() throws(SQLiteFileError) -> FileStatus
}

/// The facts about a file by which a change shows.
struct FileStatus: Equatable, Sendable {
    var device: UInt64 = 0
    var inode: UInt64 = 0
    var size: UInt64
    /// Nanoseconds since 1970.
    var modified: Int64 = 0

    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// The files that make up one database.
enum DatabasePart: String, Sendable, CaseIterable {
    case main = ""
    case log = "-wal"
    case journal = "-journal"
}

/// The outside world of one open database: its files and SQLite's locks on the main one.
protocol DatabaseFiles: Sendable {
    var path: String { get }
    /// The file as it was opened, even if another one has its name by now.
    var main: any ByteSource { get }

    /// - Returns: nil if no file has the name.
    func open(_ part: DatabasePart) throws(SQLiteFileError) -> (any ByteSource)?
    /// The status of the file that has the name now.
    func status(_ part: DatabasePart) throws(SQLiteFileError) -> FileStatus?
    /// Whether any file has this path.
    func exists(_ path: String) -> Bool

    /// Waits until a change of the file would give it another modification time.
    /// - Returns: false if nothing had to be waited for.
    func settle(_ status: FileStatus) -> Bool

    /// Takes SQLite's SHARED lock.
    /// - Returns: false if the file system has no locks.
    func lock() throws(SQLiteFileError) -> Bool
    func unlock()
    /// Whether a running program holds SQLite's RESERVED lock, as a writer does; nil if that cannot be asked.
    func isReserved() -> Bool?
}

extension ByteSource {
    /// The first bytes of the file, fewer than asked if it is shorter.
    func prefix(_ count: Int) throws(SQLiteFileError) -> [UInt8] { try bytes(at: 0, count: count) }

    func bytes(at offset: UInt64, count: Int) throws(SQLiteFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var failure: SQLiteFileError?
        let done = bytes.withUnsafeMutableBytes { buffer -> Int in
            do throws(SQLiteFileError) { return try read(into: buffer, at: offset) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        bytes.removeSubrange(done...)
        return bytes
    }
}
