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

    /// Takes the next entries' rows, as many as the buffer holds.
    /// - Returns: the number of rows; fewer than the buffer holds only at the end.
    package mutating func take(into rows: UnsafeMutableBufferPointer<UInt64>) throws(StoreError) -> Int {
        var taken = 0
        while taken < rows.count {
            let count = try takePiece(into: UnsafeMutableBufferPointer(rebasing: rows[taken...]))
            guard count > 0 else { break }
            taken &+= count
        }
        return taken
    }

    /// Takes the rows of the next entries, as many as are at hand, have one key, which is `unsafeKey` then, and fit in the buffer.
    /// - Precondition: the buffer is not empty.
    /// - Returns: the number of rows; 0 at the end.
    package mutating func takePiece(into rows: UnsafeMutableBufferPointer<UInt64>) throws(StoreError) -> Int {
        try merge.takePiece(into: rows)
    }

    /// Goes on to the first entry whose row is at least `row`; stays at the last one that `next` or `take` gave if it is such a one. `next` and
    /// `take` go on behind it. For an ascending cursor over a range of one key only, since rows ascend only there. Call one of them first.
    /// - Returns: the row number of the entry; nil at the end.
    /// - Complexity: O(runs · log entries), whatever number of entries it passes.
    public mutating func seek(row: UInt64) throws(StoreError) -> UInt64? {
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
