/// The data that could be saved from a damaged store, as `heartwood salvage` shows it.
///
/// Lists end after their first thousand elements; the counts beside them include all.
public struct StoreSalvage: Sendable {
    /// One table of the new store.
    public struct Table: Sendable, Equatable {
        public var id: UInt16
        public var name: String
        /// Rows in the new store, including those of the next two counts.
        public var kept = 0
        /// Rows of commits that have lost a part.
        public var fromIncompleteCommits = 0
        /// Rows in an older version: an index names a newer record, which is lost.
        public var older = 0
        /// Lost rows that an index, or a later record, shows to have existed.
        public var lost = 0
        /// Row numbers that were given out and have no record left: their rows are lost, or had been deleted.
        public var unaccounted = 0
        /// Rows whose newest record does not fit its layout.
        public var malformed = 0
        /// Values that lack a part, or are invalid for their column (`RowAudit`). They are null in the new store's rows.
        public var valuesLost = 0
    }

    /// A value that lacks a part, or is invalid for its column.
    public struct LostValue: Sendable, Equatable {
        /// The row that had it. It is in the new store, with null in this column.
        public var reference: RowReference
        public var column: String
        /// The value's length as the row states it; 0 if that is lost too.
        public var bytes: UInt64
    }

    /// Bytes of the file that no valid checksum covers.
    public struct Damage: Sendable, Equatable {
        public var offset: UInt64
        public var end: UInt64
        public var what: String
    }

    /// A commit that has lost some of its frames.
    public struct IncompleteCommit: Sendable, Equatable {
        public var sequence: UInt64
        /// The row count of its footer; nil if the footer is lost.
        public var rowsStated: Int?
        public var rowsFound: Int
        /// False for an unfinished write at the log's end: nothing shows that it was ever acknowledged.
        public var isTaken: Bool
    }

    public enum Tail: String, Sendable {
        /// Empty, or all zeroes.
        case clean
        /// An unfinished write, which was never acknowledged.
        case unfinished
        /// An unfinished write, or damaged acknowledged commits. The superblock that would show which is damaged too.
        case uncertain
    }

    public var path: String
    public var newPath: String
    public var storeID: StoredUUID
    public var fileBytes: UInt64
    public var newFileBytes: UInt64 = 0
    public var wholeCommits: Int
    /// The newest commit whose footer is left.
    public var newestCommit: UInt64
    public var tables: [Table] = []
    /// The client's rows of the system table.
    public var systemValues = 0
    /// The catalog and client's rows that are left only in an older version, or lost.
    public var systemValuesOlder = 0
    public var systemValuesLost = 0
    /// Records of tables that no catalog has, though the newest catalog left does not show that they were dropped.
    public var rowsWithoutTable = 0
    /// Records that verify and make no sense.
    public var malformedRecords: Int
    /// Rows left out because an index shows that they had been deleted; the records of the deletions are lost.
    public var deletionsByIndex = 0
    public var damage: [Damage]
    public var damageCount: Int
    public var damagedBytes: UInt64
    /// Numbers of commits without a footer. If the file's beginning is lost, the first range may begin before the file did.
    public var missingCommits: [ClosedRange<UInt64>]
    public var missingCommitRangeCount: Int
    public var incompleteCommits: [IncompleteCommit]
    public var incompleteCommitCount: Int
    public var tail: Tail
    /// The rows that `Table.lost` counts.
    public var lostRows: [RowReference] = []
    /// The values that `Table.valuesLost` counts.
    public var lostValues: [LostValue] = []

    public var rows: Int { tables.reduce(0) { $0 + $1.kept } }

    /// Whether the new store has everything that was ever acknowledged, as far as can be known. Commits at the log's end leave no trace if
    /// they were zeroed together with the superblocks that named them.
    public var isComplete: Bool {
        missingCommitRangeCount == 0 && !hasIncompleteCommits && tail != .uncertain && rowsWithoutTable == 0 && malformedRecords == 0
            && systemValuesOlder == 0 && systemValuesLost == 0
            && tables.allSatisfy { $0.older == 0 && $0.lost == 0 && $0.unaccounted == 0 && $0.malformed == 0 && $0.valuesLost == 0 }
    }

    private var hasIncompleteCommits: Bool {
        incompleteCommitCount > incompleteCommits.count || incompleteCommits.contains { $0.isTaken || tail == .uncertain }
    }

    /// Writes every row of the store at `path` that can still be read to a new store at `newPath`.
    ///
    /// Searches the whole file for frames whose checksums hold, also behind damaged bytes. `SalvageScan` has the rules by which they are
    /// judged. The new store has the same identity, tables, indexes, row numbers and versions, and the client's rows of the system table, so
    /// it may replace the damaged one. Of the history it has one version of each row. It is at `newPath` only once it is whole and durable.
    /// `path` is opened read-only and locked, so no process can write to it meanwhile.
    /// - Parameters:
    ///   - options: the file system, the extractors, the lock timeout and the mapping of files apply. Durability, compaction and segment size
    ///     do not.
    ///   - progress: called with the bytes searched and the bytes in total, then with the rows written and the rows in total.
    /// - Throws: `exists` if there is a file at `newPath`; `locked` if another process is writing to `path`; `notAStore` and similar errors;
    ///   `corrupt` if no checksum can be verified or no catalog is left; as writing does. No file is at `newPath` then.
    /// - Complexity: O(file), read twice; about 24 bytes of memory for each row, besides the memory for a checkpoint.
    public static func salvage(
        path: String, to newPath: String, options: StoreOptions = StoreOptions(), progress: ((UInt64, UInt64) -> Void)? = nil
    ) throws(StoreError) -> StoreSalvage {
        let fileSystem = options.resolvedFileSystem()
        try SalvageWriter.checkAbsent(newPath, fileSystem)
        let source = try SalvageSource(path: path, fileSystem: fileSystem, maps: options.usesMemoryMapping, lockTimeout: options.lockTimeout)
        defer { source.close() }
        var scan = SalvageScan(source: source) { prepared in
            let coordinator = CommitCoordinator(prepared: prepared, path: path, options: options, fileSystem: fileSystem)
            if case .committed = coordinator.ask() { return true }
            return false
        }
        try scan.run(progress: progress)
        var report = StoreSalvage(source: source, newPath: newPath, scan: scan)
        let writer = SalvageWriter(source: source, newPath: newPath, options: options, fileSystem: fileSystem)
        try writer.run(scan, &report, progress: progress)
        return report
    }

    private init(source: SalvageSource, newPath: String, scan: borrowing SalvageScan) {
        path = source.path
        self.newPath = newPath
        storeID = source.file.identity.storeID
        fileBytes = source.size
        wholeCommits = scan.wholeCommits
        newestCommit = scan.newestCommit
        malformedRecords = scan.malformedRecords
        damage = source.headerDamage + scan.damage.elements
        damageCount = source.headerDamage.count + scan.damage.count
        damagedBytes = source.headerDamage.reduce(scan.damagedBytes) { $0 + $1.end - $1.offset }
        missingCommits = scan.missingCommits.elements
        missingCommitRangeCount = scan.missingCommits.count
        incompleteCommits = scan.incompleteCommits.elements
        incompleteCommitCount = scan.incompleteCommits.count
        tail = scan.tail
    }
}
