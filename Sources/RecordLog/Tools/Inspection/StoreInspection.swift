/// The content of a store file, as `heartwood inspect` shows it.
public struct StoreInspection: Sendable {
    public struct Table: Sendable {
        public var id: UInt16
        public var name: String
        public var rows: Int
        /// Bytes of rows and their values.
        public var liveBytes: UInt64
        /// Values in frames of their own, and their bytes; nil if a row cannot be read.
        public var values: Values?
        /// The largest of these values, the largest first.
        package var largest: [LargeValue] = []
        public var columns: [String]
        /// The columns of the newest layout for which some layout states a default: the value that older rows have without it in their bytes.
        public var defaults: [String]
    }

    public struct Values: Sendable, Equatable {
        public var count = 0
        public var bytes: UInt64 = 0
    }

    package struct LargeValue: Sendable, Equatable {
        package var row: UInt64
        package var column: String
        package var bytes: UInt64

        private static let listedMax = 20

        /// Adds the value to a list of the largest ones.
        func add(to list: inout [LargeValue]) {
            guard list.count < Self.listedMax || bytes > list[list.count - 1].bytes else { return }
            list.insert(self, at: list.firstIndex { $0.bytes < bytes } ?? list.count)
            if list.count > Self.listedMax { list.removeLast() }
        }
    }

    public struct Index: Sendable {
        public var id: UInt16
        public var table: String
        public var name: String
        public var columns: [String]
        public var runs: Int
        public var entries: UInt64
        public var bytes: UInt64
    }

    public struct Commit: Sendable {
        public var sequence: UInt64
        public var offset: UInt64
        public var byteCount: UInt64
        public var rows: Int
        /// Microseconds since 1970-01-01 UTC.
        public var timestamp: Int64
        public var author: String?
        /// The rows that the commit wrote or deleted.
        public var changes: [(reference: RowReference, isDeletion: Bool)]
    }

    public enum Tail: Sendable, Equatable {
        case clean
        case torn
        /// A writer is at work, or has written since the store was opened. The bytes behind the newest commit are its work.
        case inProgress
        case corrupt(offset: UInt64, evidence: String)
        /// A part of a save over several stores. The store at this path decides about it.
        case inDoubt(offset: UInt64, coordinatorPath: String, state: InDoubtCommit.State)
    }

    public var path: String
    public var formatVersion: UInt32
    public var storeID: StoredUUID
    public var segmentSize: UInt64
    public var fileBytes: UInt64
    /// The end of the log.
    public var logBytes: UInt64
    /// Bytes of rows, with their values, that the newest commit has.
    public var liveBytes: UInt64
    /// Bytes of index runs and pages that the newest checkpoint uses.
    public var indexBytes: UInt64
    public var sequence: UInt64
    public var newestCommitOffset: UInt64?
    public var commits: Int
    public var checkpoints: Int
    public var tables: [Table]
    public var indexes: [Index]
    public var tail: Tail
    /// See `LogStore.damage`.
    public var damage: StoreError?

    /// Bytes of the log that no reader of the newest commit needs. A compaction frees about as many.
    public var deadBytes: UInt64 {
        let used = liveBytes + indexBytes + FileFormat.dataStart
        return logBytes > used ? logBytes - used : 0
    }

    /// Reads a store and writes nothing.
    /// - Parameter past: the commit as of which it is shown; nil for the newest.
    /// - Complexity: O(log); reads every frame.
    public static func inspect(
        path: String, fileSystem: (any FileSystem)? = nil, usesMemoryMapping: Bool = true, asOf past: PastCommit? = nil
    ) throws(StoreError) -> StoreInspection {
        var options = StoreOptions()
        options.isReadOnly = true
        options.asOf = past
        options.fileSystem = fileSystem
        options.usesMemoryMapping = usesMemoryMapping
        let store = try LogStore.open(path: path, options: options)
        return try StoreInspector(store: store).inspect()
    }

    /// Reads what the newest checkpoint knows of a store, and writes nothing. `commits` and `checkpoints` are 0, `newestCommitOffset` and each
    /// table's `values` are nil.
    /// - Complexity: O(pages of the primary indexes), and O(commits behind the checkpoint).
    package static func survey(path: String) throws(StoreError) -> StoreInspection {
        var options = StoreOptions()
        options.isReadOnly = true
        return try StoreInspector(store: try LogStore.open(path: path, options: options)).survey()
    }
}

/// Scans a store's frames.
struct StoreInspector {
    let store: LogStore

    private var snapshot: Snapshot { store.snapshot() }

    func inspect() throws(StoreError) -> StoreInspection {
        let snapshot = snapshot
        var found = try survey()
        try forEachFrame(upTo: store.log.end) { frame in
            switch frame.header.kind {
            case .commit:
                found.commits += 1
                found.newestCommitOffset = frame.offset
            case .checkpoint: found.checkpoints += 1
            default: break
            }
        }
        for (number, table) in snapshot.catalog.tables.enumerated() {
            guard let (values, largest) = try? values(of: table, snapshot) else { continue }
            (found.tables[number].values, found.tables[number].largest) = (values, largest)
        }
        return found
    }

    /// What is known without the log's frames.
    func survey() throws(StoreError) -> StoreInspection {
        let snapshot = snapshot
        let file = snapshot.file
        return StoreInspection(
            path: store.path, formatVersion: file.identity.version, storeID: store.storeID, segmentSize: file.segmentSize,
            fileBytes: try file.storage.size(), logBytes: store.log.end,
            liveBytes: snapshot.tables.reduce(0) { $0 + ($1?.liveBytes ?? 0) }, indexBytes: try indexBytes(snapshot),
            sequence: snapshot.sequence, newestCommitOffset: nil, commits: 0, checkpoints: 0,
            tables: snapshot.catalog.tables.map { table in
                StoreInspection.Table(
                    id: table.id.rawValue, name: table.name, rows: snapshot.rowCount(table.id),
                    liveBytes: snapshot.state(table.id)?.liveBytes ?? 0, values: nil,
                    columns: table.currentLayout.columns.map(\.name), defaults: table.defaultedColumns)
            },
            indexes: snapshot.catalog.indexes.map { describe($0, snapshot) }, tail: try TailInspection(store: store).run(), damage: store.damage)
    }

    private func describe(_ index: IndexDefinition, _ snapshot: Snapshot) -> StoreInspection.Index {
        let runs = Int(index.id.rawValue) < snapshot.indexes.count ? snapshot.indexes[Int(index.id.rawValue)] : nil
        let table = snapshot.catalog.table(index.table)
        return StoreInspection.Index(
            id: index.id.rawValue, table: table?.name ?? "", name: index.name,
            columns: index.parts.map { part in table?.currentLayout.columns.first { $0.id == part.column }?.name ?? "?" },
            runs: (runs?.fresh.count ?? 0) + (runs?.disk.count ?? 0),
            entries: (runs?.diskEntryCount ?? 0) + UInt64(runs?.freshEntryCount ?? 0),
            bytes: runs?.disk.reduce(0) { $0 + $1.byteCount } ?? 0)
    }

    /// - Complexity: O(rows) if the table has a column of values. Reads no value.
    private func values(
        of table: TableDefinition, _ snapshot: Snapshot
    ) throws(StoreError) -> (StoreInspection.Values, largest: [StoreInspection.LargeValue]) {
        var found = StoreInspection.Values(), largest: [StoreInspection.LargeValue] = []
        guard table.hasValues else { return (found, []) }
        try snapshot.scanRows(table.id) { row throws(StoreError) in
            guard let layout = table.layout(row.layoutID) else { return true }
            for position in layout.valuePositions where !row.isNull(layout.access[position]) {
                guard let reference = ValueReference(row.bytes(layout.access[position])) else { continue }
                let bytes = min(reference.length, ValueReference.lengthMax)
                found.count += 1
                found.bytes = min(found.bytes + bytes, ValueReference.lengthMax)
                StoreInspection.LargeValue(row: row.reference.row, column: layout.columns[position].name, bytes: bytes).add(to: &largest)
            }
            return true
        }
        return (found, largest)
    }

    private func indexBytes(_ snapshot: Snapshot) throws(StoreError) -> UInt64 {
        var bytes: UInt64 = 0
        for runs in snapshot.indexes { bytes += runs?.disk.reduce(0) { $0 + $1.byteCount } ?? 0 }
        for state in snapshot.tables {
            guard let base = state?.primary.base else { continue }
            for page in 0..<base.pageCount where !base.page(page).isNone {
                // A page has as many bytes as its rows take; most tables have a part of one.
                bytes += UInt64(try snapshot.file.stated(at: base.page(page).offset, limit: snapshot.file.readableEnd)?.length ?? 0)
            }
        }
        return bytes
    }

    func forEachFrame(upTo end: UInt64, _ body: (LogFile.Frame) throws(StoreError) -> Void) throws(StoreError) {
        let file = snapshot.file
        var offset = FileFormat.dataStart
        while offset < end, let frame = try file.frame(at: offset, limit: end) {
            try body(frame)
            offset = frame.end
        }
    }

    /// One commit with its changes; nil if the log does not have it, or has it no more.
    func commit(_ sequence: UInt64) throws(StoreError) -> StoreInspection.Commit? {
        var changes: [(reference: RowReference, isDeletion: Bool)] = []
        var found: StoreInspection.Commit?
        try forEachFrame(upTo: snapshot.end) { frame throws(StoreError) in
            guard frame.header.sequence == sequence else { return }
            switch frame.header.kind {
            case .rows: collect(frame, &changes)
            case .commit:
                // Opening does not verify commits before the newest checkpoint.
                guard let footer = CommitFooter(payload: frame.payload), footer.start <= frame.offset else { return }
                collect(frame, &changes)
                found = StoreInspection.Commit(
                    sequence: sequence, offset: footer.start, byteCount: frame.end - footer.start, rows: Int(footer.rowCount),
                    timestamp: footer.timestamp, author: footer.author(in: frame.payload), changes: changes)
            default: break
            }
        }
        return found
    }

    private func collect(_ frame: LogFile.Frame, _ changes: inout [(reference: RowReference, isDeletion: Bool)]) {
        _ = frame.forEachRow { record, _, _ in changes.append((record.reference, record.operation == .delete)) }
    }
}

extension LogStore {
    /// One commit by its number, with the rows that it changed; nil if the log does not have it, or has it no more. O(log).
    public func commit(_ sequence: UInt64) throws(StoreError) -> StoreInspection.Commit? {
        try StoreInspector(store: self).commit(sequence)
    }
}
