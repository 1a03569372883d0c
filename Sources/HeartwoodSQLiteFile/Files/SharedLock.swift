import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    /// SQLite's SHARED lock on a database file. Source: "File Locking And Concurrency", 3.0, and the byte numbers in SQLite's os.h.
    ///
    /// The lock belongs to the open file, not to the process. A lock of the process would replace those that SQLite holds in it, and
    /// releasing ours would release SQLite's.
    struct SharedLock: Sendable {
        let descriptor: Int32
        let path: String

        /// A writer locks this byte to keep new readers out.
        private static let pending: off_t = 0x4000_0000
        /// A writer locks this byte from its first change to its commit.
        private static let reserved = pending + 1
        /// Readers lock this range.
        private static let shared = pending + 2
        private static let sharedCount: off_t = 510

        // Not all C libraries' modules have the names. Sources: Linux, include/uapi/asm-generic/fcntl.h; Darwin, bsd/sys/fcntl.h.
        #if canImport(Darwin)
            private static let set: Int32 = 90
            private static let get: Int32 = 92
        #else
            private static let set: Int32 = 37
            private static let get: Int32 = 36
        #endif

        /// - Returns: false if the file system has no such locks.
        func take(timeout: Duration) throws(SQLiteFileError) -> Bool {
            // The kernel's calls want 64-bit offsets.
            guard MemoryLayout<off_t>.size == 8 else { return false }
            let deadline = ContinuousClock.now + timeout
            var pause: UInt32 = 100
            while true {
                switch attempt() {
                case 0: return true
                case EAGAIN, EACCES: break
                case EINVAL, ENOLCK, ENOSYS, EOPNOTSUPP, ENOTSUP: return false
                case let code: throw SQLiteFileError.system("fcntl", path, code)
                }
                guard ContinuousClock.now < deadline else { throw busy(timeout) }
                usleep(pause)
                pause = min(pause * 2, 10_000)
            }
        }

        /// SQLite's order: the pending byte, the shared range, then the pending byte is given back.
        private func attempt() -> Int32 {
            var code = call(Self.set, F_RDLCK, Self.pending, 1)
            guard code == 0 else { return code }
            code = call(Self.set, F_RDLCK, Self.shared, Self.sharedCount)
            _ = call(Self.set, F_UNLCK, Self.pending, 1)
            return code
        }

        func release() { _ = call(Self.set, F_UNLCK, Self.shared, Self.sharedCount) }

        /// Whether another open file has the reserved byte locked for writing; nil if that cannot be asked.
        func isReserved() -> Bool? {
            guard MemoryLayout<off_t>.size == 8 else { return nil }
            var lock = Self.request(F_RDLCK, Self.reserved, 1)
            guard fcntl(descriptor, Self.get, &lock) == 0 else { return nil }
            return Int32(lock.l_type) != Int32(F_UNLCK)
        }

        private func call(_ command: Int32, _ kind: some BinaryInteger, _ start: off_t, _ count: off_t) -> Int32 {
            var lock = Self.request(kind, start, count)
            while fcntl(descriptor, command, &lock) != 0 {
                if errno != EINTR { return errno }
            }
            return 0
        }

        private static func request(_ kind: some BinaryInteger, _ start: off_t, _ count: off_t) -> flock {
            var lock = flock()
            lock.l_type = .init(truncatingIfNeeded: kind)
            lock.l_whence = .init(truncatingIfNeeded: SEEK_SET)
            lock.l_start = start
            lock.l_len = count
            return lock
        }

        private func busy(_ timeout: Duration) -> SQLiteFileError {
            SQLiteFileError(
                .busy, path: path, "another program held its lock on the database for \(timeout)",
                remedy: "Try again once that program has finished writing.")
        }
    }
#endif
