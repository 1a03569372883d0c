import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    /// Files, by POSIX calls.
    public struct POSIXFileSystem: FileSystem {
        public init() {}

        public func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
            try Self.check(path)
            let flags: Int32 = switch mode {
            case .readOnly: O_RDONLY
            case .readWrite: O_RDWR
            case .readWriteUnlinked: O_RDWR | O_NOFOLLOW
            case .create, .createPrivate: O_RDWR | O_CREAT | O_EXCL
            }
            let permissions: mode_t = mode == .createPrivate ? 0o600 : 0o644
            if mode != .readOnly { FileSizeSignal.ignoreIfDefault() }
            if mode == .readWrite || mode == .readWriteUnlinked { try Self.checkIsNoDevice(path) }
            // O_NONBLOCK: opening a pipe would wait for a writer. The flag changes nothing for a regular file that no process has leased.
            var descriptor = SystemCall.retry { openFile(path, flags | O_CLOEXEC | O_NONBLOCK, permissions) }
            // Another process has a lease of the file: this call waits for it.
            if descriptor < 0, errno == EWOULDBLOCK { descriptor = SystemCall.retry { openFile(path, flags | O_CLOEXEC, permissions) } }
            if descriptor < 0, errno == ELOOP, mode == .readWriteUnlinked { throw FileInTheWay.error(path, "a symbolic link") }
            // Darwin returns another error for a socket.
            guard descriptor >= 0 else { throw SystemCall.error("open", path, errno == EOPNOTSUPP ? ENXIO : errno) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else {
                let code = errno
                _ = close(descriptor)
                throw SystemCall.error("fstat", path, code)
            }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG else {
                _ = close(descriptor)
                throw SystemCall.error("open", path, kind == S_IFDIR ? EISDIR : ENXIO)
            }
            return POSIXFile(
                descriptor: descriptor, path: path,
                identity: FileSystemIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino)))
        }

        public func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
            #if os(Linux) || os(Android)
                if let found = UntimedStatus.identity(of: path) { return found }
            #endif
            var status = stat()
            guard stat(path, &status) == 0 else {
                if errno == ENOENT { return nil }
                throw SystemCall.error("stat", path, errno)
            }
            return FileSystemIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
        }

        public func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity? {
            var status = stat()
            guard lstat(path, &status) == 0 else {
                if errno == ENOENT { return nil }
                throw SystemCall.error("lstat", path, errno)
            }
            return FileSystemIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
        }

        /// Creates a directory that only its owner may access.
        /// - Returns: false if the name is taken, even by a broken link.
        package func makePrivateDirectory(_ path: String) throws(StoreError) -> Bool {
            if mkdir(path, 0o700) == 0 { return true }
            guard errno == EEXIST else { throw SystemCall.error("mkdir", path, errno) }
            return false
        }

        /// - Returns: false if it is not empty, not a directory, or missing.
        package func removeEmptyDirectory(_ path: String) -> Bool { rmdir(path) == 0 }

        public func rename(_ old: String, to new: String) throws(StoreError) {
            try Self.check(old)
            try Self.check(new)
            try Self.checkIsReplaceable(new)
            guard renameFile(old, new) == 0 else { throw SystemCall.error("rename", new, errno) }
        }

        public func remove(_ path: String) throws(StoreError) {
            try Self.check(path)
            try Self.checkIsReplaceable(path)
            guard unlink(path) == 0 || errno == ENOENT else { throw SystemCall.error("unlink", path, errno) }
        }

        public func syncDirectory(of path: String) throws(StoreError) {
            try POSIXDirectory(of: path, in: Self.directory(of: path)).sync()
        }

        public func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory {
            try POSIXDirectory(of: path, in: Self.directory(of: path))
        }

        public func resolved(_ path: String) throws(StoreError) -> String {
            guard let found = realpath(path, nil) else { throw SystemCall.error("realpath", path, errno) }
            defer { free(found) }
            return String(cString: found)
        }

        public func freeSpace(at path: String) -> UInt64? {
            var status = statvfs()
            guard statvfs(Self.directory(of: path), &status) == 0 else { return nil }
            return UInt64(status.f_bavail) &* UInt64(status.f_frsize)
        }

        public func now() -> Int64 { SystemClock.now() }

        public func random() -> UInt64 {
            UInt64.random(in: 1...UInt64.max)
        }

        /// Refuses a path with a zero byte: the system would read up to it, and use another file.
        private static func check(_ path: String) throws(StoreError) {
            guard path.utf8.contains(0) else { return }
            throw StoreError(.invalidArgument, path: path, "the path has a zero byte", remedy: "Give a path without one.")
        }

        /// Refuses a pipe, a socket or a device before it is opened for writing: opening a device may already change it.
        private static func checkIsNoDevice(_ path: String) throws(StoreError) {
            var status = stat()
            // The opening reports whatever else is wrong.
            guard stat(path, &status) == 0 else { return }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFDIR else { throw SystemCall.error("open", path, ENXIO) }
        }

        /// Refuses a name whose file is neither a regular one nor a symbolic link. The owner of a system could remove its devices.
        private static func checkIsReplaceable(_ path: String) throws(StoreError) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFLNK else { throw SystemCall.error("open", path, kind == S_IFDIR ? EISDIR : ENXIO) }
        }

        private static func directory(of path: String) -> String {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    // These functions have the same names as the methods above.
    func openFile(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 { open(path, flags, permissions) }
    private func renameFile(_ old: String, _ new: String) -> Int32 { rename(old, new) }

    enum SystemCall {
        /// Repeats a call that a signal interrupted.
        static func retry<Result: FixedWidthInteger>(_ call: () -> Result) -> Result {
            while true {
                let result = call()
                if result != -1 || errno != EINTR { return result }
            }
        }

        /// Repeats a call that may transfer less than requested, or be interrupted, until all is transferred.
        /// - Parameter call: gets the number of bytes transferred so far and returns the number of further bytes; 0 at an end, -1 for an error.
        /// - Returns: the number of bytes transferred, and the error number if a call failed.
        static func transfer(_ count: Int, _ call: (Int) -> Int) -> (done: Int, code: Int32?) {
            var done = 0
            while done < count {
                let more = retry { call(done) }
                guard more >= 0 else { return (done, errno) }
                if more == 0 { break }
                done += more
            }
            return (done, nil)
        }

        /// The error for a failed call, with a remedy.
        static func error(_ call: String, _ path: String, at offset: UInt64? = nil, _ code: Int32) -> StoreError {
            let reason = String(cString: strerror(code))
            let (kind, remedy): (StoreError.Code, String) = switch code {
            case ENOENT: (.notFound, "Check the path.")
            case EACCES, EPERM: (.permissionDenied, "Check the permissions of the file and its directory.")
            case EROFS: (.permissionDenied, "The file system is read-only; open the store read-only.")
            case EISDIR: (.isDirectory, "Give the path of a store file, not of a directory.")
            // The error of opening a socket. Pipes and devices get the same one.
            case ENXIO: (.notAStore, "Give the path of a store file, not of a pipe, a socket or a device.")
            case EEXIST: (.exists, "Choose another path, or open the file that is there.")
            // The error of a write that starts at the limit. Bytes of the partial write before it stay behind the log's end.
            case EFBIG: (.noSpace, "The file may not grow: raise the limit of the process (`ulimit -f`), or use a file system that allows "
                + "larger files; earlier saves are whole.")
            case ENOSPC, EDQUOT: (.noSpace, "Free some space and save again; earlier saves are whole.")
            default: (.io, "The file system reported an error; check the disk, then reopen the store.")
            }
            return StoreError(kind, path: path, at: offset, "\(call) failed: \(reason)", remedy: remedy, errno: code)
        }
    }
#endif
