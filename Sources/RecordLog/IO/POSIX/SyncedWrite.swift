#if os(Linux) || os(Android)
    import HeartwoodPlatform

    /// A write that returns once its own bytes are on the disk, with the metadata needed to find them: `pwritev2` with `RWF_DSYNC`.
    ///
    /// `fdatasync` waits for every other page of the file too. Headers declare the call only for GNU sources, so it is looked up at run
    /// time; kernels before 4.7, and some file systems, do not have it.
    enum SyncedWrite {
        private typealias Call = @convention(c) (Int32, UnsafeRawPointer, Int32, off_t, Int32) -> Int

        private static let call: Call? = dlsym(nil, "pwritev2").map { unsafeBitCast($0, to: Call.self) }
        private static let dataSync: Int32 = 2

        /// - Returns: the number of bytes written, or -1 with `errno`; nil if the call does not exist.
        static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: UInt64) -> Int? {
            guard let call else { return nil }
            var vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: numericCast(bytes.count))
            return SystemCall.retry { call(descriptor, &vector, 1, off_t(offset), dataSync) }
        }
    }
#endif
