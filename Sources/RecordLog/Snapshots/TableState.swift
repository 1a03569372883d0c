/// How many rows a table has as of one commit, where they lie, and where the next one goes. Commits that do not change it share it.
///
/// Invariant: it is changed by the replay that made it alone, and no more once a snapshot holds it.
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

    /// The same rows in another index.
    func with(_ primary: PrimaryIndex) -> TableState {
        TableState(primary: primary, nextRow: nextRow, rowCount: rowCount, liveBytes: liveBytes)
    }

    // MARK: Replaying

    /// More than any file holds, so that rows which claim too much overflow no sum.
    private static let liveBytesMax: UInt64 = 1 << 46

    /// Counts a row that came, went or changed.
    /// - Parameters:
    ///   - old: how many bytes it had; nil where it was not there.
    ///   - new: how many it has; nil where it is deleted.
    func count(old: UInt64?, new: UInt64?) {
        if old == nil, new != nil { rowCount += 1 }
        if old != nil, new == nil { rowCount -= min(1, rowCount) }
        liveBytes = min(liveBytes + (new ?? 0), Self.liveBytesMax)
        liveBytes -= min(liveBytes, old ?? 0)
    }

    /// No row below a number is given out any more.
    func skip(to next: UInt64) { nextRow = max(nextRow, next) }
}
