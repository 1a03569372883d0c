#if os(Linux) || os(Android)
    import Platform

    /// A write that returns once its own bytes are on the disk, with what it takes to find them there: `pwritev2` with `RWF_DSYNC`.
    ///
    /// `fdatasync` waits for every other page of the file too. Headers show the call to GNU sources alone, so it is looked up while the
    /// process runs; kernels before 4.7, and some file systems, do not have it.
    enum SyncedWrite {
        private typealias Call = @convention(c) (Int32, UnsafeRawPointer, Int32, off_t, Int32) -> Int

        private static let call: Call? = dlsym(nil, "pwritev2").map { unsafeBitCast($0, to: Call.self) }
        private static let dataSync: Int32 = 2

        /// - Returns: how many bytes were written, or -1 with `errno`; nil where there is no such call.
        static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: UInt64) -> Int? {
            guard let call else { return nil }
            var vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: numericCast(bytes.count))
            return SystemCall.retry { call(descriptor, &vector, 1, off_t(offset), dataSync) }
        }
    }
#endif
