import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    struct POSIXBuildFiles: BuildFiles {
        func create(_ path: String) throws(SQLiteBuildError) -> any BuildFile {
            guard !path.utf8.contains(0) else {
                // The system would read up to the zero byte, and make another file.
                throw SQLiteBuildError(.io, path: path, "the path has a zero byte", remedy: "Give a path without one.")
            }
            return try POSIXBuildFile(path, permissions: 0o644)
        }

        func createTemporary(beside path: String) throws(SQLiteBuildError) -> any BuildFile {
            let name = ".sqlite-sort-" + String(UInt64.random(in: .min ... .max), radix: 16)
            let file = try POSIXBuildFile(Self.folder(of: path) + "/" + name, permissions: 0o600)
            // Without a name the file goes with its descriptor, even when the process is killed.
            file.removeName()
            return file
        }

        func syncFolder(of path: String) throws(SQLiteBuildError) {
            let folder = Self.folder(of: path)
            let descriptor = retry { openFile(folder, O_RDONLY | O_CLOEXEC, 0) }
            // A folder that may be written but not read cannot be opened for a sync. The file in it is durable.
            if descriptor < 0, errno == EACCES { return }
            guard descriptor >= 0 else { throw SQLiteBuildError.system("open", folder, errno) }
            defer { _ = close(descriptor) }
            // Some file systems cannot sync a folder; their names are durable by themselves.
            guard retry({ fsync(descriptor) }) == 0 || errno == EINVAL else { throw SQLiteBuildError.system("fsync", folder, errno) }
        }

        private static func folder(of path: String) -> String {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    final class POSIXBuildFile: BuildFile {
        private let path: String
        /// -1 once the file is closed.
        private var descriptor: Int32

        init(_ path: String, permissions: mode_t) throws(SQLiteBuildError) {
            self.path = path
            descriptor = retry { openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions) }
            guard descriptor >= 0 else { throw SQLiteBuildError.system("open", path, errno) }
        }

        deinit { close() }

        func close() {
            guard descriptor >= 0 else { return }
            _ = closeFile(descriptor)
            descriptor = -1
        }

        func removeName() {
            var own = stat(), named = stat()
            guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0 else { return }
            guard own.st_dev == named.st_dev, own.st_ino == named.st_ino else { return }
            _ = unlink(path)
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) {
            guard let base = bytes.baseAddress else { return }
            var done = 0
            while done < bytes.count {
                let count = retry { pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done)) }
                // A write that transfers nothing and returns no error has no room.
                guard count > 0 else { throw SQLiteBuildError.system("pwrite", path, count < 0 ? errno : ENOSPC) }
                done += count
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) -> Int {
            guard let base = buffer.baseAddress else { return 0 }
            var done = 0
            while done < buffer.count {
                let count = retry { pread(descriptor, base + done, buffer.count - done, off_t(offset) + off_t(done)) }
                guard count >= 0 else { throw SQLiteBuildError.system("pread", path, errno) }
                if count == 0 { break }
                done += count
            }
            return done
        }

        func sync() throws(SQLiteBuildError) {
            #if canImport(Darwin)
                // On Darwin only this call empties the drive's cache.
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            #endif
            guard retry({ fsync(descriptor) }) == 0 else { throw SQLiteBuildError.system("fsync", path, errno) }
        }
    }

    /// Repeats a call that a signal interrupted.
    private func retry<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }

    // Names of their own: methods hide the C functions.
    private func openFile(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 { open(path, flags, permissions) }
    private func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }

    extension SQLiteBuildError {
        static func system(_ call: String, _ path: String, _ code: Int32) -> SQLiteBuildError {
            let message = "\(call) failed: \(String(cString: strerror(code)))"
            switch code {
            case EEXIST: return SQLiteBuildError(.exists, path: path, "something has this path already", remedy: "Give another path.")
            case ENOENT, ENOTDIR: return SQLiteBuildError(.noFolder, path: path, "the folder of this path is missing", remedy: "Make the folder.")
            case ENOSPC, EDQUOT, EFBIG: return SQLiteBuildError(.noSpace, path: path, message, remedy: "Make room on the disk, and try again.")
            default: return SQLiteBuildError(.io, path: path, message, remedy: "Check the disk, and the permissions of the folder.")
            }
        }
    }
#endif
