import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    extension POSIXFileSystem: DirectoryFileSystem {
        public func makeDirectory(_ path: String) throws(StoreError) -> Bool {
            if mkdir(path, 0o755) == 0 { return true }
            let code = errno
            guard code == EEXIST else { throw StoreError.system("mkdir", path, code) }
            return false
        }

        public func makeDirectory(_ path: String, permittedAs model: FileAttributes) throws(StoreError) -> Bool {
            guard try makePrivateDirectory(path) else { return false }
            var status = stat()
            guard stat(path, &status) == 0 else { throw StoreError.system("stat", path, errno) }
            let permissions = model.permissions(
                for: FileAttributes(permissions: 0, owner: UInt32(status.st_uid), group: UInt32(status.st_gid)))
            // A user who may read the files may enter the folder; the owner may also make files in it.
            let entering = (permissions & 0o444) >> 2 | permissions & 0o444
            let inherited = UInt32(status.st_mode) & UInt32(S_ISGID)
            guard chmod(path, mode_t(0o700 | entering | permissions & 0o022 | inherited)) == 0 else {
                throw StoreError.system("chmod", path, errno)
            }
            return true
        }

        public func entries(ofDirectory path: String) throws(StoreError) -> [DirectoryEntry]? {
            guard let directory = opendir(path) else {
                let code = errno
                if code == ENOENT { return nil }
                guard code == ENOTDIR else { throw StoreError.system("opendir", path, code) }
                throw StoreError(
                    .invalidArgument, path: path, "a file has the path of the directory, or of a part of it",
                    remedy: "Give the path of a directory.", errno: code)
            }
            defer { closedir(directory) }
            var entries: [DirectoryEntry] = []
            while true {
                errno = 0
                guard let entry = readdir(directory) else {
                    if errno != 0 { throw StoreError.system("readdir", path, errno) }
                    return entries
                }
                let name = Self.name(of: entry)
                guard name != ".", name != ".." else { continue }
                var status = stat()
                // An entry that is gone by now is none.
                guard stat(path + "/" + name, &status) == 0 else { continue }
                let kind = status.st_mode & S_IFMT
                guard kind == S_IFDIR || kind == S_IFREG else { continue }
                entries.append(DirectoryEntry(name: name, isDirectory: kind == S_IFDIR, size: UInt64(status.st_size)))
            }
        }

        private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
            // The name may be longer than the tuple that stands for it.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
        }
    }
#endif
