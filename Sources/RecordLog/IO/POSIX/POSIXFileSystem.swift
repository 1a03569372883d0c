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
            guard let file = SystemFile<StoreError>.open(path, flags, permissions: permissions) else {
                if errno == ELOOP, mode == .readWriteUnlinked { throw FileInTheWay.error(path, "a symbolic link") }
                // Darwin returns another error for a socket.
                throw StoreError.system("open", path, errno == EOPNOTSUPP ? ENXIO : errno)
            }
            do throws(StoreError) {
                let status = try file.status(), kind = status.st_mode & S_IFMT
                guard kind == S_IFREG else { throw StoreError.system("open", path, kind == S_IFDIR ? EISDIR : ENXIO) }
                return POSIXFile(file, identity: FileSystemIdentity(status))
            } catch {
                file.close()
                throw error
            }
        }

        public func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
            #if os(Linux) || os(Android)
                if let found = UntimedStatus.identity(of: path) { return found }
            #endif
            var status = stat()
            guard stat(path, &status) == 0 else {
                if errno == ENOENT { return nil }
                throw StoreError.system("stat", path, errno)
            }
            return FileSystemIdentity(status)
        }

        public func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity? {
            var status = stat()
            guard lstat(path, &status) == 0 else {
                if errno == ENOENT { return nil }
                throw StoreError.system("lstat", path, errno)
            }
            return FileSystemIdentity(status)
        }

        /// Creates a directory that only its owner may access.
        /// - Returns: false if the name is taken, even by a broken link.
        package func makePrivateDirectory(_ path: String) throws(StoreError) -> Bool {
            if mkdir(path, 0o700) == 0 { return true }
            guard errno == EEXIST else { throw StoreError.system("mkdir", path, errno) }
            return false
        }

        /// - Returns: false if it is not empty, not a directory, or missing.
        package func removeEmptyDirectory(_ path: String) -> Bool { rmdir(path) == 0 }

        public func rename(_ old: String, to new: String) throws(StoreError) {
            try Self.check(old)
            try Self.check(new)
            try Self.checkIsReplaceable(new)
            guard renameFile(old, new) == 0 else { throw StoreError.system("rename", new, errno) }
        }

        public func remove(_ path: String) throws(StoreError) {
            try Self.check(path)
            try Self.checkIsReplaceable(path)
            guard unlink(path) == 0 || errno == ENOENT else { throw StoreError.system("unlink", path, errno) }
        }

        public func syncDirectory(of path: String) throws(StoreError) {
            try openDirectory(of: path).sync()
        }

        public func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory {
            // A system that cannot make a change durable refuses it before it is made.
            guard let directory = try SystemDirectory<StoreError>.open(of: path) else {
                throw StoreError.system("open", SystemCall.directory(of: path), EACCES)
            }
            return directory
        }

        public func resolved(_ path: String) throws(StoreError) -> String {
            guard let found = SystemCall.resolved(path) else { throw StoreError.system("realpath", path, errno) }
            return found
        }

        public func freeSpace(at path: String) -> UInt64? {
            var status = statvfs()
            guard statvfs(SystemCall.directory(of: path), &status) == 0 else { return nil }
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
            guard kind == S_IFREG || kind == S_IFDIR else { throw StoreError.system("open", path, ENXIO) }
        }

        /// Refuses a name whose file is neither a regular one nor a symbolic link. The owner of a system could remove its devices.
        private static func checkIsReplaceable(_ path: String) throws(StoreError) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFLNK else { throw StoreError.system("open", path, kind == S_IFDIR ? EISDIR : ENXIO) }
        }
    }

    // This function has the same name as the method above.
    private func renameFile(_ old: String, _ new: String) -> Int32 { rename(old, new) }

    extension FileSystemIdentity {
        fileprivate init(_ status: stat) { self.init(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino)) }
    }

    extension SystemDirectory: OpenDirectory where Failure == StoreError {}

    extension StoreError: SystemCallError {
        /// The error for a failed call, with a remedy.
        package static func system(_ call: String, _ path: String, at offset: UInt64?, _ code: Int32) -> StoreError {
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
            return StoreError(kind, path: path, at: offset, SystemCall.message(call, code), remedy: remedy, errno: code)
        }
    }
#endif
