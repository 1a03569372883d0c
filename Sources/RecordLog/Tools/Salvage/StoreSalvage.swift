/// What could be brought out of a damaged store, as `heartwood salvage` shows it.
///
/// Lists end after their first thousand elements; the counts beside them are of all.
public struct StoreSalvage: Sendable {
    /// One table of the new store.
    public struct Table: Sendable, Equatable {
        public var id: UInt16
        public var name: String
        /// Rows that are in the new store, those of the next two included.
        public var kept = 0
        /// Of commits of which a part is lost.
        public var fromIncompleteCommits = 0
        /// In an older version: an index names a newer record, which is lost.
        public var older = 0
        /// Rows that an index, or a later record, shows to have been there.
        public var lost = 0
        /// Row numbers that were given out and of which no record is left: rows that are lost, or had been deleted.
        public var unaccounted = 0
        /// Rows whose newest record does not suit its layout.
        public var malformed = 0
        /// Values that lack a part, or are none of their column (`RowAudit`): null in the rows that are in the new store.
        public var valuesLost = 0
    }

    /// A value in frames of its own that lacks a part.
    public struct LostValue: Sendable, Equatable {
        /// The row that had it; it is in the new store, with null in this column.
        public var reference: RowReference
        public var column: String
        /// As the row states it; 0 where that is lost as well.
        public var bytes: UInt64
    }

    /// Bytes of the file that no checksum covers any more.
    public struct Damage: Sendable, Equatable {
        public var offset: UInt64
        public var end: UInt64
        public var what: String
    }

    /// A commit of which frames are lost, and some are left.
    public struct IncompleteCommit: Sendable, Equatable {
        public var sequence: UInt64
        /// What its footer counts; nil where that is lost.
        public var rowsStated: Int?
        public var rowsFound: Int
        /// False for an unfinished write at the log's end: nothing shows that it was ever acknowledged.
        public var isTaken: Bool
    }

    public enum Tail: String, Sendable {
        /// Nothing, or zeroes.
        case clean
        /// A write that was not finished, and so never acknowledged.
        case unfinished
        /// The same, or acknowledged commits that are damaged: a superblock that would tell is damaged too.
        case uncertain
    }

    public var path: String
    public var newPath: String
    public var storeID: (UInt64, UInt64)
    public var fileBytes: UInt64
    public var newFileBytes: UInt64 = 0
    public var wholeCommits: Int
    /// The newest commit whose footer is left.
    public var newestCommit: UInt64
    public var tables: [Table] = []
    /// The client's rows of the system table.
    public var systemValues = 0
    /// Catalog and client's rows that are there in an older version only, or lost.
    public var systemValuesOlder = 0
    public var systemValuesLost = 0
    /// Records of tables that no catalog has any more, though the newest that is left does not say they were dropped.
    public var rowsWithoutTable = 0
    /// Records that verify and make no sense.
    public var malformedRecords: Int
    /// Rows left out because an index shows that they had been deleted; the records that say so are lost.
    public var deletionsByIndex = 0
    public var damage: [Damage]
    public var damageCount: Int
    public var damagedBytes: UInt64
    /// Numbers of commits without a footer. Where the file's beginning is lost, the first range may begin before the file did.
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

    /// Whether everything that was ever acknowledged is in the new store, as far as can be known: commits at the log's end
    /// leave no trace where they were zeroed together with the superblocks that named them.
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
    /// The whole file is searched for frames whose checksums hold, past damaged stretches too; how they are judged stands
    /// at `SalvageScan`. The new store has the same identity, tables, indexes, row numbers and versions, and the client's
    /// rows of the system table, so it may take the damaged one's place; of the history it has one version of each row. It
    /// is at `newPath` only once it is whole and durable. `path` is opened for reading alone, and locked: nobody can
    /// write to it meanwhile.
    /// - Parameters:
    ///   - options: the file system, the extractors, and whether files are mapped are used.
    ///   - progress: called with the bytes searched and the bytes in all, then with the rows written and the rows in all.
    /// - Throws: `exists` where there is something at `newPath`; `locked` where somebody is writing to `path`; `notAStore` and the like; `corrupt` where no checksum can
    ///   be verified or nothing says which tables there are; as writing does. Nothing is at `newPath` then.
    /// - Complexity: O(file), read twice; about 24 bytes of memory for each row, besides what a checkpoint takes.
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
