/// The commits of a store's log, the newest first.
///
/// Reads the log twice, between two checkpoints at a time, and keeps 8 bytes for each commit between them. A commit's rows are read frame by frame.
package struct CommitLog {
    /// One commit.
    package struct Entry: Sendable {
        package var sequence: UInt64
        package var offset: UInt64
        /// From the first frame's start to the commit frame's end.
        package var byteCount: UInt64
        /// Microseconds since 1970-01-01 UTC.
        package var timestamp: Int64
        package var author: String?
        package var rows: Int
        /// By table. A row that a commit has changed twice counts twice. Empty for a commit whose rows the filter leaves unread.
        package var changes: [TableID: Changes] = [:]
        /// The first rows that it changed, as many as the filter asks for.
        package var first: [ChangedRow] = []
    }

    package struct ChangedRow: Sendable, Equatable {
        package var reference: RowReference
        package var isDeletion: Bool
    }

    package struct Changes: Sendable, Equatable {
        package var written = 0
        package var deleted = 0
    }

    /// Chooses commits.
    package struct Filter: Sendable {
        /// Commits with a record of one of these tables; nil for all.
        package var tables: Set<TableID>?
        /// Commits with a record of this row; nil for all.
        package var row: RowReference?
        /// Microseconds since 1970-01-01 UTC.
        package var times: ClosedRange<Int64> = .min ... .max
        /// The rows of a commit of more bytes are not read, unless they choose it.
        package var readBytesMax = UInt64.max
        /// The most rows that an entry names.
        package var firstMax = 0

        package init() {}
    }

    private let snapshot: Snapshot
    private let superblock: Superblock
    private let rebuildsIndexes: Bool
    private let reader: TailReader

    /// - Parameter store: opened read-only.
    package init(_ store: LogStore) {
        snapshot = store.snapshot()
        superblock = store.log.superblock
        rebuildsIndexes = store.options.rebuildsIndexes
        reader = TailReader(snapshot.file)
    }

    /// Calls `body` with each commit that the filter chooses, until it returns false.
    /// - Throws: `corrupt` where the log is damaged, after the commits behind the damage; the errors of `body`.
    /// - Complexity: O(log) from the newest commit to the last one that `body` asks for.
    package func forEach(_ filter: Filter = Filter(), _ body: (Entry) throws -> Bool) throws {
        var upper = snapshot.sequence
        let newest = rebuildsIndexes ? .none : superblock.checkpoint
        var chain = CheckpointChain(snapshot.file, from: newest, limit: snapshot.file.readableEnd)
        while upper > 0 {
            let manifest = try chain.next()?.manifest
            if let manifest, manifest.sequence >= upper { continue }
            for offset in try commits(behind: manifest, through: upper, filter.times).reversed() {
                guard let entry = try entry(of: offset, filter) else { continue }
                guard try body(entry) else { return }
            }
            upper = manifest?.sequence ?? 0
        }
    }

    /// The offsets of the frames of the commits behind a checkpoint, or behind the file's beginning, that have one of these times.
    private func commits(behind manifest: Manifest?, through last: UInt64, _ times: ClosedRange<Int64>) throws(StoreError) -> [UInt64] {
        var scan = CommitScan(
            snapshot.file, after: LogPosition(behind: manifest), limit: snapshot.end, publishedEnd: superblock.end, wholeEnd: superblock.durableEnd)
        var offsets: [UInt64] = []
        while scan.sequence < last, let footer = try scan.next() {
            if let frame = scan.commitFrame, times.contains(footer.timestamp) { offsets.append(frame.offset) }
        }
        guard scan.sequence == last else {
            throw StoreError.corrupt(snapshot.file.path, at: scan.end, "the log ends before commit \(last)")
        }
        return offsets
    }

    /// - Returns: nil if the filter leaves the commit out.
    private func entry(of offset: UInt64, _ filter: Filter) throws(StoreError) -> Entry? {
        guard let last = try reader.frame(at: offset, limit: snapshot.end), let footer = CommitFooter(payload: last.payload) else {
            throw StoreError.corrupt(snapshot.file.path, at: offset, "a commit frame has changed while it was read")
        }
        var entry = Entry(
            sequence: footer.sequence, offset: footer.start, byteCount: last.end - footer.start, timestamp: footer.timestamp,
            author: footer.author(in: last.payload), rows: Int(footer.rowCount))
        var hasRow = filter.row == nil
        if hasRow, filter.tables == nil, entry.byteCount > filter.readBytesMax { return entry }
        var at = footer.start
        while at <= offset, let frame = try reader.frame(at: at, limit: snapshot.end) {
            _ = frame.forEachRow { record, _, _ in
                hasRow = hasRow || record.reference == filter.row
                let isDeletion = record.operation == .delete
                if entry.first.count < filter.firstMax { entry.first.append(ChangedRow(reference: record.reference, isDeletion: isDeletion)) }
                entry.changes[record.reference.table, default: Changes()].written += isDeletion ? 0 : 1
                entry.changes[record.reference.table, default: Changes()].deleted += isDeletion ? 1 : 0
            }
            at = frame.end
        }
        guard hasRow, filter.tables.map({ !$0.isDisjoint(with: entry.changes.keys) }) ?? true else { return nil }
        return entry
    }
}
