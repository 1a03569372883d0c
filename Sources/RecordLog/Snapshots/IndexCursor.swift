/// Scans a range of an index, ascending or descending, and returns the rows.
public struct IndexCursor {
    private let merge: MergeCursor
    // Keeps the runs' and the file's memory alive.
    private let owner: Snapshot
    /// The entry that `seek` looks for.
    private var target: KeyBuilder?

    init(_ merge: MergeCursor, owner: Snapshot) {
        self.merge = merge
        self.owner = owner
    }

    /// The row number of the next entry; nil at the end.
    /// - Complexity: O(runs), amortised; a block is read about every hundred entries.
    public mutating func next() throws(StoreError) -> UInt64? {
        guard try merge.next() else { return nil }
        return IndexEntry.row(of: merge.entry)
    }

    /// Goes on to the first entry whose row is at least `row`; stays at the last one that `next` returned if it is such a one. For an
    /// ascending cursor over a range of one key only, since rows ascend only there. Call `next` first.
    /// - Returns: the row number of the entry; nil at the end.
    /// - Complexity: O(runs · log entries), whatever number of entries it passes.
    public mutating func seek(row: UInt64) throws(StoreError) -> UInt64? {
        // A search costs more than a few steps.
        for _ in 0..<Self.stepsMax {
            guard !merge.entry.isEmpty else { return nil }
            let known = IndexEntry.row(of: merge.entry)
            if known >= row { return known }
            guard try merge.next() else { return nil }
        }
        let target = self.target ?? KeyBuilder()
        self.target = target
        target.removeAll()
        target.append(key: unsafeKey)
        target.append(row: row)
        return try merge.seek(target.unsafeBuffer) ? IndexEntry.row(of: merge.entry) : nil
    }

    private static let stepsMax = 8

    /// Takes the next entries' rows, as many as the buffer holds.
    /// - Returns: the number of rows; fewer than the buffer holds only at the end.
    package mutating func take(into rows: UnsafeMutableBufferPointer<UInt64>) throws(StoreError) -> Int {
        guard !rows.isEmpty else { return 0 }
        var taken = 0
        try merge.forEach { entry in
            rows[taken] = IndexEntry.row(of: entry)
            taken &+= 1
            return taken < rows.count
        }
        return taken
    }

    /// Goes on to the first entry that `take` has not given and whose row is at least `row`, under the same conditions as `seek(row:)`.
    /// `take` goes on behind it.
    package mutating func skip(toRow row: UInt64) throws(StoreError) -> UInt64? {
        guard !merge.entry.isEmpty else { return nil }
        let target = self.target ?? KeyBuilder()
        self.target = target
        target.removeAll()
        target.append(key: unsafeKey)
        target.append(row: row)
        return try merge.seek(target.unsafeBuffer) ? IndexEntry.row(of: merge.entry) : nil
    }

    /// The key of the last entry that `next` returned; valid until the next call.
    public var unsafeKey: UnsafeRawBufferPointer {
        IndexEntry.key(of: merge.entry)
    }
}
