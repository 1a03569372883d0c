import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A directory, ready for a sync.
    ///
    /// A directory that may be written but not read (mode 0300) cannot be opened. Linux can sync the whole file system through a file in it
    /// instead; that takes longer and makes the directory durable as well. Other systems refuse such a directory, before any change.
    final class POSIXDirectory: OpenDirectory {
        private let descriptor: Int32
        private let path: String
        private let syncsFileSystem: Bool

        /// - Parameter file: a file in the directory; it need not exist if the directory can be read.
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
            // Some file systems cannot sync a directory and return EINVAL; their renames are durable by themselves.
            guard SystemCall.retry({ fsync(descriptor) }) == 0 || errno == EINVAL else { throw SystemCall.error("fsync", path, errno) }
        }

        #if os(Linux) || os(Android)
            private typealias Call = @convention(c) (Int32) -> Int32
            /// Headers declare the call only for GNU sources.
            private static let syncFileSystem: Call? = dlsym(nil, "syncfs").map { unsafeBitCast($0, to: Call.self) }
        #endif
    }
#endif
