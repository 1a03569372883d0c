#if os(Linux) || os(Android)
    import HeartwoodPlatform

    /// Starts to write cached bytes of a file to the disk, without waiting: `sync_file_range` with only `SYNC_FILE_RANGE_WRITE`. With only
    /// that flag, the call takes no error away from the sync that follows.
    ///
    /// Headers declare the call only for GNU sources, so it is looked up at run time.
    enum EarlyWriteback {
        private typealias Call = @convention(c) (Int32, Int64, Int64, UInt32) -> Int32

        private static let call: Call? = dlsym(nil, "sync_file_range").map { unsafeBitCast($0, to: Call.self) }
        private static let write: UInt32 = 2
        private static let pageSize: UInt64 = 4096

        /// Omits a last page that the range covers in part, since more is written there soon.
        static func begin(_ range: Range<UInt64>, of descriptor: Int32) {
            let start = range.lowerBound & ~(pageSize - 1), end = range.upperBound & ~(pageSize - 1)
            guard let call, start < end else { return }
            _ = call(descriptor, Int64(start), Int64(end - start), write)
        }
    }
#endif
