/// Walks a range of an index, ascending or descending, and gives the rows.
public struct IndexCursor {
    private let merge: MergeCursor
    // The runs' memory and the file's.
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

    /// The key of the entry that `next` gave last; valid until the next call.
    public var key: UnsafeRawBufferPointer {
        IndexEntry.key(of: merge.entry)
    }
}
