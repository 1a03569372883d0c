#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A directory, ready for a sync.
    ///
    /// A directory that may be written but not read (mode 0300) cannot be opened. Linux can sync the whole file system through a file in it
    /// instead; that takes longer and makes the directory durable as well.
    package final class SystemDirectory<Failure: SystemCallError>: Sendable {
        private let descriptor: Int32
        private let path: String
        private let syncsFileSystem: Bool

        private init(_ descriptor: Int32, _ path: String, syncsFileSystem: Bool) {
            self.descriptor = descriptor
            self.path = path
            self.syncsFileSystem = syncsFileSystem
        }

        /// The directory of a file.
        /// - Parameter file: need not exist if the directory can be read.
        /// - Returns: nil if the directory may not be read, and the system cannot sync it otherwise.
        package static func open(of file: String) throws(Failure) -> SystemDirectory? {
            let directory = SystemCall.directory(of: file)
            let own = SystemCall.retry { openFile(directory, O_RDONLY | O_CLOEXEC) }
            if own >= 0 { return SystemDirectory(own, directory, syncsFileSystem: false) }
            let code = errno
            #if os(Linux) || os(Android)
                if code == EACCES, SystemCall.syncFileSystem != nil {
                    let other = SystemCall.retry { openFile(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
                    if other >= 0 { return SystemDirectory(other, directory, syncsFileSystem: true) }
                }
            #endif
            guard code == EACCES else { throw .system("open", directory, code) }
            return nil
        }

        deinit { _ = close(descriptor) }

        /// Makes the names in the directory durable.
        package func sync() throws(Failure) {
            #if os(Linux) || os(Android)
                if syncsFileSystem, let call = SystemCall.syncFileSystem {
                    guard SystemCall.retry({ call(descriptor) }) == 0 else { throw .system("syncfs", path, errno) }
                    return
                }
            #endif
            // Some file systems cannot sync a directory and return EINVAL; their renames are durable by themselves.
            guard SystemCall.retry({ fsync(descriptor) }) == 0 || errno == EINVAL else { throw .system("fsync", path, errno) }
        }
    }

    // A name of its own: the method hides the C function.
    private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
#endif
