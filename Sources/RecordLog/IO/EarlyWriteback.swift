#if os(Linux) || os(Android)
    import Platform

    /// Has the system begin to write bytes of its cache to the disk, and does not wait for it: `sync_file_range` with
    /// `SYNC_FILE_RANGE_WRITE` alone. With that flag no error is taken from the sync that comes after it.
    ///
    /// Headers show the call to GNU sources alone, so it is looked up while the process runs.
    enum EarlyWriteback {
        private typealias Call = @convention(c) (Int32, Int64, Int64, UInt32) -> Int32

        private static let call: Call? = dlsym(nil, "sync_file_range").map { unsafeBitCast($0, to: Call.self) }
        private static let write: UInt32 = 2
        private static let pageSize: UInt64 = 4096

        /// The last page is left out where the range ends within it: what follows is written there soon.
        static func begin(_ range: Range<UInt64>, of descriptor: Int32) {
            let start = range.lowerBound & ~(pageSize - 1), end = range.upperBound & ~(pageSize - 1)
            guard let call, start < end else { return }
            _ = call(descriptor, Int64(start), Int64(end - start), write)
        }
    }
#endif
