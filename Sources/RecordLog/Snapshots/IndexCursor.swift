/// Scans a range of an index, ascending or descending, and returns the rows.
public struct IndexCursor {
    private let merge: MergeCursor
    // Keeps the runs' and the file's memory alive.
    private let owner: Snapshot

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

    /// The key of the last entry that `next` returned; valid until the next call.
    public var unsafeKey: UnsafeRawBufferPointer {
        IndexEntry.key(of: merge.entry)
    }
}
