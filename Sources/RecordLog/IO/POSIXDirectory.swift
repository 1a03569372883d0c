import Platform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A directory that is to be synced.
    ///
    /// One that may be written to and not read (mode 0300) cannot be opened. Linux can sync the whole file system by a file in it instead,
    /// which takes longer and makes the directory durable as well. Elsewhere such a directory is refused, before anything is changed.
    final class POSIXDirectory: OpenDirectory {
        private let descriptor: Int32
        private let path: String
        private let syncsFileSystem: Bool

        /// - Parameter file: in the directory; it need not be there where the directory can be read.
        init(of file: String, in directory: String) throws(StoreError) {
            path = directory
            let own = SystemCall.retry { openFile(directory, O_RDONLY | O_CLOEXEC, 0) }
            guard own < 0 else {
                descriptor = own
                syncsFileSystem = false
                return
            }
            let code = errno
            #if os(Linux) || os(Android)
                if code == EACCES, Self.syncFileSystem != nil {
                    let other = SystemCall.retry { openFile(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0) }
                    if other >= 0 {
                        descriptor = other
                        syncsFileSystem = true
                        return
                    }
                }
            #endif
            throw SystemCall.error("open", directory, code)
        }

        deinit { _ = close(descriptor) }

        func sync() throws(StoreError) {
            #if os(Linux) || os(Android)
                if syncsFileSystem, let call = Self.syncFileSystem {
                    guard SystemCall.retry({ call(descriptor) }) == 0 else { throw SystemCall.error("syncfs", path, errno) }
                    return
                }
            #endif
            // Some file systems cannot sync a directory and say EINVAL; their renames are durable by themselves.
            guard SystemCall.retry({ fsync(descriptor) }) == 0 || errno == EINVAL else { throw SystemCall.error("fsync", path, errno) }
        }

        #if os(Linux) || os(Android)
            private typealias Call = @convention(c) (Int32) -> Int32
            /// Headers show it to GNU sources alone.
            private static let syncFileSystem: Call? = dlsym(nil, "syncfs").map { unsafeBitCast($0, to: Call.self) }
        #endif
    }
#endif
