/// The rows of a table as of one commit: their number, their primary index, and the next row number. Commits that do not change the
/// table share it.
///
/// Invariant: only the replay that made it changes it, and only until a snapshot holds it.
final class TableState: @unchecked Sendable {
    // Unchecked: see above.
    let primary: PrimaryIndex
    private(set) var nextRow: UInt64
    private(set) var rowCount: UInt64
    /// Bytes of live records and of their values.
    private(set) var liveBytes: UInt64

    init(primary: PrimaryIndex = PrimaryIndex(), nextRow: UInt64 = 1, rowCount: UInt64 = 0, liveBytes: UInt64 = 0) {
        self.primary = primary
        self.nextRow = nextRow
        self.rowCount = rowCount
        self.liveBytes = liveBytes
    }

    /// A copy with another primary index.
    func with(_ primary: PrimaryIndex) -> TableState {
        TableState(primary: primary, nextRow: nextRow, rowCount: rowCount, liveBytes: liveBytes)
    }

    // MARK: Replaying

    /// More than any file holds. It limits the sum of rows that claim too much, so that no sum overflows.
    private static let liveBytesMax: UInt64 = 1 << 46

    /// Counts an insertion, a deletion or a change of a row.
    /// - Parameters:
    ///   - old: the bytes that the row had; nil if it is new.
    ///   - new: the bytes that it has; nil if it is deleted.
    func count(old: UInt64?, new: UInt64?) {
        if old == nil, new != nil { rowCount += 1 }
        if old != nil, new == nil { rowCount -= min(1, rowCount) }
        liveBytes = min(liveBytes + (new ?? 0), Self.liveBytesMax)
        liveBytes -= min(liveBytes, old ?? 0)
    }

    /// Makes sure that no row number below `next` is given to a new row.
    func skip(to next: UInt64) { nextRow = max(nextRow, next) }
}

extension Catalog {
    /// Removes the states of tables and indexes that are not in this catalog.
    func removeDropped(_ tables: inout [TableState?], _ indexes: inout [RunSet?]) {
        for number in tables.indices.dropFirst() where table(TableID(rawValue: UInt16(number))) == nil { tables[number] = nil }
        var known = IDSet()
        for index in self.indexes { _ = known.insert(index.id.rawValue) }
        for number in indexes.indices where !known.contains(UInt16(number)) { indexes[number] = nil }
    }
}
