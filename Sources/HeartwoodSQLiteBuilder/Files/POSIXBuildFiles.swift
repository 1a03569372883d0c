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
            let file = try POSIXBuildFile(SystemCall.directory(of: path) + "/" + name, permissions: 0o600)
            // Without a name the file goes with its descriptor, even when the process is killed.
            file.removeName()
            return file
        }

        func syncFolder(of path: String) throws(SQLiteBuildError) {
            // A folder that may be written but not read cannot be synced on all systems. The file in it is durable.
            try SystemDirectory<SQLiteBuildError>.open(of: path)?.sync()
        }
    }

    final class POSIXBuildFile: BuildFile {
        /// Its descriptor is -1 once it is closed: the system may give the number to another file.
        private var file: SystemFile<SQLiteBuildError>

        init(_ path: String, permissions: mode_t) throws(SQLiteBuildError) {
            guard let made = SystemFile<SQLiteBuildError>.open(path, O_RDWR | O_CREAT | O_EXCL, permissions: permissions) else {
                throw SQLiteBuildError.system("open", path, errno)
            }
            file = made
        }

        deinit { close() }

        func close() {
            guard file.descriptor >= 0 else { return }
            file.close()
            file = SystemFile(descriptor: -1, path: file.path)
        }

        func removeName() {
            var named = stat()
            guard let own = try? file.status(), lstat(file.path, &named) == 0 else { return }
            guard own.st_dev == named.st_dev, own.st_ino == named.st_ino else { return }
            _ = unlink(file.path)
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) { try file.write(bytes, at: offset) }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) -> Int {
            try file.read(into: buffer, at: offset)
        }

        func sync() throws(SQLiteBuildError) { try file.sync() }
    }

    extension SQLiteBuildError: SystemCallError {
        package static func system(_ call: String, _ path: String, at offset: UInt64?, _ code: Int32) -> SQLiteBuildError {
            let message = SystemCall.message(call, code) + (offset.map { " (at byte \($0))" } ?? "")
            switch code {
            case EEXIST: return SQLiteBuildError(.exists, path: path, "something has this path already", remedy: "Give another path.")
            case ENOENT, ENOTDIR: return SQLiteBuildError(.noFolder, path: path, "the folder of this path is missing", remedy: "Make the folder.")
            case ENOSPC, EDQUOT, EFBIG: return SQLiteBuildError(.noSpace, path: path, message, remedy: "Make room on the disk, and try again.")
            default: return SQLiteBuildError(.io, path: path, message, remedy: "Check the disk, and the permissions of the folder.")
            }
        }
    }
#endif
