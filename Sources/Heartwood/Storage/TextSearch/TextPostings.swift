import RecordLog

/// The rows of terms, ascending.
///
/// Rows are taken from the index by the piece: a row that is in the piece costs no step of the cursor.
///
/// Invariants:
/// 1. `rows` has `count` rows, ascending. The caller has passed those before `position`.
/// 2. The cursor, if there is one, has given the rows of the piece, and goes on behind them.
final class TextPostings {
    private var cursor: IndexCursor?
    private let rows: UnsafeMutableBufferPointer<UInt64>
    private var count = 0
    private var position = 0
    /// The number of rows to take next.
    private var pieceCount = TextPostings.pieceCountMin

    static let pieceCountMin = 16, pieceCountMax = 256
    /// A search in the index costs as much as taking so many rows.
    private static let searchCost: UInt64 = 96

    /// - Parameter cursor: of one term, which has given nothing yet.
    init(_ cursor: IndexCursor) {
        self.cursor = cursor
        rows = .allocate(capacity: Self.pieceCountMax)
    }

    /// - Parameter list: ascending, each once.
    init(_ list: [UInt64]) {
        rows = .allocate(capacity: max(list.count, 1))
        count = list.count
        _ = rows.initialize(from: list)
    }

    deinit {
        rows.deallocate()
    }

    /// The first row that was not passed; nil at the end.
    var first: UInt64? {
        get throws {
            if position == count { try takePiece() }
            return position < count ? rows[position] : nil
        }
    }

    /// Passes `first`.
    func removeFirst() { position &+= 1 }

    /// Passes the next rows, as many as the buffer holds.
    /// - Returns: the number of rows; 0 only at the end, or for an empty buffer.
    func take(into buffer: UnsafeMutableBufferPointer<UInt64>) throws -> Int {
        guard position < count else { return try cursor?.take(into: buffer) ?? 0 }
        let taken = min(count - position, buffer.count)
        _ = buffer.update(fromContentsOf: rows[position..<position + taken])
        position += taken
        return taken
    }

    /// Keeps those of ascending rows that are among these, at the buffer's start, and passes all rows below the last of them.
    /// - Returns: the number of rows that are kept.
    func keep(_ wanted: UnsafeMutableBufferPointer<UInt64>) throws -> Int {
        var kept = 0
        for row in wanted {
            guard try pass(before: row) else { break }
            if rows[position] == row {
                wanted[kept] = row
                kept &+= 1
            }
        }
        return kept
    }

    /// Passes all rows below `row`.
    /// - Returns: false if there are no others.
    /// - Complexity: O(log rows), whatever number of rows it passes.
    @inline(__always)
    func pass(before row: UInt64) throws -> Bool {
        while position == count || rows[count &- 1] < row { guard try takePiece(towards: row) else { return false } }
        passInPiece(before: row)
        return true
    }

    /// Passes all rows below `row`.
    /// - Returns: whether `row` is the next one.
    func has(_ row: UInt64) throws -> Bool { try pass(before: row) && rows[position] == row }

    @inline(__always)
    private func passInPiece(before row: UInt64) {
        // Most often it is one of the next few.
        var low = position, step = 1
        guard rows[low] < row else { return }
        while low &+ step < count, rows[low &+ step] < row {
            low &+= step
            step &*= 2
        }
        var high = min(low &+ step, count &- 1)
        low &+= 1
        while low < high {
            let middle = (low &+ high) / 2
            if rows[middle] < row { low = middle &+ 1 } else { high = middle }
        }
        position = low
    }

    /// Passes the piece and takes another one: the next, or one that begins with the first row that is not below `row`.
    /// - Returns: false at the end.
    private func takePiece(towards row: UInt64) throws -> Bool {
        if count == 0 || isNear(row, rows[count - 1]) {
            try takePiece()
        } else {
            position = count
            pieceCount = Self.pieceCountMin
            guard let found = try cursor?.seek(row: row) else {
                cursor = nil
                return false
            }
            try takePiece(behind: found)
        }
        return count > 0
    }

    /// Whether a row is probably among the next few, as far as the piece tells.
    private func isNear(_ row: UInt64, _ last: UInt64) -> Bool {
        guard row > last else { return true }
        let width = last - rows[0] + 1
        let (product, isTooMuch) = (row - last).multipliedReportingOverflow(by: UInt64(count))
        return !isTooMuch && product / width <= Self.searchCost
    }

    /// Takes the next piece. It is empty at the end.
    /// - Parameter first: the row that the cursor is at, if it has given one, which is the piece's first.
    private func takePiece(behind first: UInt64? = nil) throws {
        (position, count) = (0, 0)
        if let first {
            rows[0] = first
            count = 1
        }
        let wanted = UnsafeMutableBufferPointer(rebasing: rows[count..<min(count + pieceCount, rows.count)])
        pieceCount = min(pieceCount * 2, Self.pieceCountMax)
        count += try cursor?.take(into: wanted) ?? 0
    }
}
