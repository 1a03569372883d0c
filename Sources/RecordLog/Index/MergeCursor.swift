/// Merges cursors over several runs of one index into one ordered walk: of equal entries the newest run's counts, and a
/// tombstone hides the older ones.
final class MergeCursor {
    /// Newest first.
    private let cursors: [RunCursor]
    private let isDescending: Bool
    private let keepsTombstones: Bool
    private var current: RunCursor?

    init(cursors: [RunCursor], isDescending: Bool, keepsTombstones: Bool) {
        self.cursors = cursors
        self.isDescending = isDescending
        self.keepsTombstones = keepsTombstones
    }

    /// The entry that the last `next` found; valid until the next one.
    @inline(__always)
    var entry: UnsafeRawBufferPointer { current?.key ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    var isTombstone: Bool { current?.isTombstone ?? false }

    /// Moves to the next entry.
    /// - Returns: false at the end.
    func next() throws(StoreError) -> Bool {
        while true {
            if let current { try current.advance() }
            current = nil
            if cursors.count == 1 {
                guard cursors[0].isValid else { return false }
                current = cursors[0]
            } else {
                guard let found = try select() else { return false }
                current = found
            }
            if keepsTombstones || !(current?.isTombstone ?? false) { return true }
        }
    }

    /// The cursor with the next entry; cursors of older runs that stand at the same entry are moved past it.
    private func select() throws(StoreError) -> RunCursor? {
        var best: RunCursor?
        for cursor in cursors where cursor.isValid {
            guard let known = best else {
                best = cursor
                continue
            }
            let order = MemoryRun.compare(cursor.key, known.key)
            if order == 0 {
                try cursor.advance()
            } else if (order < 0) != isDescending {
                best = cursor
            }
        }
        return best
    }
}

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
        return Self.row(of: merge.entry)
    }

    /// The key of the entry that `next` gave last; valid until the next call.
    public var key: UnsafeRawBufferPointer {
        let entry = merge.entry
        return UnsafeRawBufferPointer(rebasing: entry.dropLast(KeyBuilder.rowSuffixSize))
    }

    /// The last six bytes of an entry; 0, which is no row, where there are fewer.
    @inline(__always)
    static func row(of entry: UnsafeRawBufferPointer) -> UInt64 {
        guard entry.count >= KeyBuilder.rowSuffixSize else { return 0 }
        let at = entry.count &- KeyBuilder.rowSuffixSize
        let high = UInt16(bigEndian: entry.loadUnaligned(fromByteOffset: at, as: UInt16.self))
        let low = UInt32(bigEndian: entry.loadUnaligned(fromByteOffset: at &+ 2, as: UInt32.self))
        return UInt64(high) << 32 | UInt64(low)
    }
}
