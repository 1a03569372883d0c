/// Backs up a store to a destination, as log archives: a base archive of the store's file, then the commits made since.
///
/// It works beside readers, writers, checkpoints and compactions in any process. It takes no lock, and a failure of the destination changes
/// nothing for them.
public struct StoreBackup: Sendable {
    /// The result of a backup.
    public struct Report: Sendable {
        /// The store's identity; nil if its file could not be read.
        public var storeID: StoredUUID?
        /// The lineage to which the store belongs; nil if the store has no commit yet.
        public var lineage: StoredUUID?
        /// The newest commit at the destination, and the newest one of the store.
        public var sequence: UInt64 = 0
        public var storeSequence: UInt64 = 0
        /// The number of archives that were put, and how many of them were base archives.
        public var archives = 0
        public var baseArchives = 0
        /// The archives' bytes, and how many bytes of commits the increments have.
        public var bytes: UInt64 = 0
        public var commitBytes: UInt64 = 0
        public var commits: UInt64 = 0
        /// The commits that a compaction took away before they were backed up. Later ones have their rows.
        public var missing: [ClosedRange<UInt64>] = []
        /// The ranges of the store's file in which frames of indexes are damaged. No commit lies there, and a restored store makes its indexes
        /// without them. Only a base archive reads such frames.
        public var damagedIndexes: [Range<UInt64>] = []
        /// The time of the oldest commit that an increment has, in microseconds since 1970.
        public var oldestTime: Int64?

        init() {}
    }

    /// How far a store's backup is.
    public struct Standing: Sendable {
        public var storeID: StoredUUID
        /// The line of commits to which the store belongs.
        public var lineage: StoredUUID
        /// The newest commit of the store.
        public var storeSequence: UInt64
        /// The newest commit of the line that can be restored; 0 for none.
        public var sequence: UInt64
        /// The time of the first commit that the destination lacks, in microseconds since 1970; nil if it lacks none.
        public var behindSince: Int64?
        /// The newest commit of the line that a backup has acknowledged; 0 if none is noted. Where it is more than `sequence`, archives were
        /// deleted or damaged.
        public var acknowledged: UInt64 = 0
        /// The archives of the line that are damaged, as far as `standing` has looked at them.
        public var damaged: [BackupError] = []
        /// The commits, from the oldest at the destination to the newest, that cannot be restored.
        public var gaps: [ClosedRange<UInt64>] = []
        /// Those of the gaps that damaged or missing archives have made. No archive has the commits of the others: a compaction took them before
        /// they were backed up, a prune deleted them, or the last archives of a file that was compacted since are gone.
        public var lost: [ClosedRange<UInt64>] = []
        /// The number of the line's archives.
        public var archives = 0
        /// Whether the archive with the newest commit was read whole. One of more than 68 MiB is not.
        public var isNewestRead = false

        /// Whether everything that was looked at is as it should be: the newest commit of the store can be restored, and no archive is damaged or
        /// missing.
        public var isSound: Bool { sequence >= storeSequence && lost.isEmpty && damaged.isEmpty }
    }

    let path: String
    let destination: any BackupDestination
    let options: StoreOptions
    /// About the most bytes of commits in one increment.
    public var bytesMax: UInt64 = 64 << 20
    /// After so many increments a backup that follows merges those of at most 1 MiB, so that few small objects stay; nil for never. Their bytes
    /// are put twice then.
    public var mergesAfter: Int? = 3600

    /// - Parameter options: the file system.
    public init(of path: String, to destination: any BackupDestination, options: StoreOptions = StoreOptions()) {
        self.path = path
        self.destination = destination
        self.options = options
    }

    /// Compares the store with the destination, and puts nothing.
    ///
    /// It looks at the names and sizes of the line's archives, at the first and the last bytes of each, and reads the newest one. Damage in the
    /// middle of an older one is not seen: `BackupArchives.verify` reads everything.
    /// - Throws: as `run` does.
    /// - Complexity: O(archives of the line): one listing, and two requests of at most 192 bytes for each.
    public func standing() async throws -> Standing { try await BackupRun(of: path, to: destination, options).standing() }

    /// Puts what the destination lacks: a base archive the first time and after a compaction, and the commits since.
    ///
    /// All commits up to the report's `sequence` are durable at the destination then, and a head that says so. Whole archives are put one after
    /// the other, so an error or a crash leaves those that were finished, and the next call goes on behind them.
    /// - Throws: `diverged` if the destination has another line of the store's commits; the errors of the destination; `StoreError`.
    /// - Complexity: O(bytes that are missing there); memory for a few blocks, and four bytes for each commit of an archive.
    @discardableResult
    public func run() async throws -> Report {
        var report = Report()
        try await BackupRun(of: path, to: destination, options).pass(bytesMax: bytesMax, &report)
        return report
    }
}

extension StoreBackup.Report {
    /// Adds an archive that was put.
    mutating func note(_ range: LogArchiveRange, _ length: UInt64) {
        let header = range.header
        damagedIndexes += range.damage
        lineage = header.lineage.id
        sequence = header.last
        archives += 1
        baseArchives += header.isBase ? 1 : 0
        bytes += length
        commitBytes += header.isBase ? 0 : header.frameBytes
        commits += header.last - header.first + 1
        if !header.isBase { oldestTime = min(oldestTime ?? .max, header.leastTime) }
    }
}
