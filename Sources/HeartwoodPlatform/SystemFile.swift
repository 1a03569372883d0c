#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// An open file, by POSIX calls. It does not close itself: its user does.
    package struct SystemFile<Failure: SystemCallError>: Sendable {
        package let descriptor: Int32
        package let path: String

        @inlinable
        package init(descriptor: Int32, path: String) {
            self.descriptor = descriptor
            self.path = path
        }

        /// Opens a file without waiting for a pipe's writer.
        /// - Parameter permissions: those of a file that the call creates.
        /// - Returns: nil with `errno` if the system refuses.
        package static func open(_ path: String, _ flags: Int32, permissions: mode_t = 0) -> SystemFile? {
            // O_NONBLOCK changes nothing for a regular file that no process has leased.
            var descriptor = SystemCall.retry { openFile(path, flags | O_CLOEXEC | O_NONBLOCK, permissions) }
            // Another process has a lease of the file: this call waits for it.
            if descriptor < 0, errno == EWOULDBLOCK { descriptor = SystemCall.retry { openFile(path, flags | O_CLOEXEC, permissions) } }
            return descriptor < 0 ? nil : SystemFile(descriptor: descriptor, path: path)
        }

        package func close() { _ = closeFile(descriptor) }

        package func status() throws(Failure) -> stat {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .system("fstat", path, errno) }
            return status
        }

        /// Reads up to `buffer.count` bytes.
        /// - Returns: the count of bytes read, fewer than asked only at the end of the file.
        @inlinable
        package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(Failure) -> Int {
            // No file has bytes that the system's type cannot number.
            guard let base = buffer.baseAddress, let start = off_t(exactly: offset), start <= off_t.max - off_t(buffer.count) else { return 0 }
            let (done, code) = SystemCall.transfer(buffer.count) { done in
                pread(descriptor, base + done, buffer.count - done, start + off_t(done))
            }
            if let code { throw .system("pread", path, at: offset + UInt64(done), code) }
            return done
        }

        @inlinable
        package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(Failure) {
            guard let base = bytes.baseAddress else { return }
            guard let start = off_t(exactly: offset), start <= off_t.max - off_t(bytes.count) else {
                throw .system("pwrite", path, at: offset, EFBIG)
            }
            let (done, code) = SystemCall.transfer(bytes.count) { done in
                pwrite(descriptor, base + done, bytes.count - done, start + off_t(done))
            }
            // A write that transfers nothing and returns no error has no room.
            guard done == bytes.count else { throw .system("pwrite", path, at: offset + UInt64(done), code ?? ENOSPC) }
        }

        /// Makes everything written durable, with the metadata needed to find it.
        package func sync() throws(Failure) {
            #if canImport(Darwin)
                // On Darwin only this call empties the drive's cache.
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
                guard SystemCall.retry({ fsync(descriptor) }) == 0 else { throw .system("fsync", path, errno) }
            #else
                guard SystemCall.retry({ fdatasync(descriptor) }) == 0 else { throw .system("fdatasync", path, errno) }
            #endif
        }
    }

    // Names of their own: the methods hide the C functions.
    private func openFile(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 { open(path, flags, permissions) }
    private func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
