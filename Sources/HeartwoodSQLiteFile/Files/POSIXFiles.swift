import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    /// The files of a database on disk. None of them is ever created or written.
    struct POSIXFiles: DatabaseFiles {
        let path: String
        /// The longest wait for a writer's lock.
        let lockTimeout: Duration
        private let file: POSIXSource
        /// The path without symbolic links: SQLite gives the files beside a database this name. Source: unixFullPathname in os_unix.c.
        private let resolvedPath: String

        init(path: String, lockTimeout: Duration) throws(SQLiteFileError) {
            self.path = path
            self.lockTimeout = lockTimeout
            guard let file = try POSIXSource.open(path) else {
                throw SQLiteFileError(.notFound, path: path, "there is no such file", remedy: "Check the path.")
            }
            self.file = file
            resolvedPath = SystemCall.resolved(path) ?? path
        }

        var main: any ByteSource { file }

        func open(_ part: DatabasePart) throws(SQLiteFileError) -> (any ByteSource)? { try POSIXSource.open(name(of: part)) }

        /// The main file is asked for by the link, which may lead to another file by now.
        private func name(of part: DatabasePart) -> String { part == .main ? path : resolvedPath + part.rawValue }

        func status(_ part: DatabasePart) throws(SQLiteFileError) -> FileStatus? {
            var status = stat()
            guard stat(name(of: part), &status) == 0 else {
                if errno == ENOENT { return nil }
                throw SQLiteFileError.system("stat", name(of: part), errno)
            }
            return FileStatus(status)
        }

        func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

        /// A kernel's file times step with its clock tick, of at most 10 ms.
        private static let timeStep: Int64 = 20_000_000

        func settle(_ status: FileStatus) -> Bool {
            var now = timespec()
            guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
            let age = (Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)) &- status.modified
            guard age > -Self.timeStep, age < Self.timeStep else { return false }
            usleep(UInt32((Self.timeStep - max(0, age)) / 1000 + 1))
            return true
        }

        func lock() throws(SQLiteFileError) -> Bool { try file.lock.take(timeout: lockTimeout) }
        func unlock() { file.lock.release() }
        func isReserved() -> Bool? { file.lock.isReserved() }
    }

    final class POSIXSource: ByteSource {
        let lock: SharedLock
        private let file: SystemFile<SQLiteFileError>

        /// The object closes the file.
        private init(_ file: SystemFile<SQLiteFileError>) {
            self.file = file
            lock = SharedLock(descriptor: file.descriptor, path: file.path)
        }

        deinit { file.close() }

        /// - Returns: nil if no file has the name.
        static func open(_ path: String) throws(SQLiteFileError) -> POSIXSource? {
            guard let file = SystemFile<SQLiteFileError>.open(path, O_RDONLY) else {
                if errno == ENOENT { return nil }
                throw SQLiteFileError.system("open", path, errno)
            }
            let source = POSIXSource(file)
            guard try file.status().st_mode & S_IFMT == S_IFREG else {
                throw SQLiteFileError(.notADatabase, path: path, "this is no ordinary file", remedy: "Give the path of the database file.")
            }
            return source
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteFileError) -> Int {
            try file.read(into: buffer, at: offset)
        }

        func status() throws(SQLiteFileError) -> FileStatus { FileStatus(try file.status()) }
    }

    extension FileStatus {
        init(_ status: stat) {
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            self.init(
                device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino),
                size: UInt64(clamping: status.st_size), modified: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
        }
    }

    extension SQLiteFileError: SystemCallError {
        package static func system(_ call: String, _ path: String, at offset: UInt64?, _ code: Int32) -> SQLiteFileError {
            SQLiteFileError(
                .io, path: path, offset: offset, SystemCall.message(call, code),
                remedy: "Check that the file can be read, with the permissions of its directory.")
        }
    }
#endif
