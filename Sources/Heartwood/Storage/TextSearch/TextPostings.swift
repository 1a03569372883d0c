import RecordLog

/// The rows of terms, ascending.
///
/// Rows are taken from the index by the piece: a row that is in the piece costs no step of the cursor.
///
/// Invariants:
/// 1. `rows` has ascending rows, of which those before `position` were given.
/// 2. The cursor, if there is one, goes on with the first row behind those of `rows`.
struct TextPostings {
    private var cursor: IndexCursor?
    private var rows: [UInt64]
    private var position = 0
    /// The number of rows to take next.
    private var pieceCount = pieceCountMin

    private static let pieceCountMin = 16, pieceCountMax = 256
    /// A search in the index costs as much as taking so many rows.
    private static let searchCost: UInt64 = 48

    /// - Parameter cursor: of one term, which has given nothing yet.
    init(_ cursor: IndexCursor) {
        self.cursor = cursor
        rows = []
    }

    init(_ rows: [UInt64]) {
        self.rows = rows
    }

    mutating func next() throws -> UInt64? {
        if position == rows.count { try take(first: nil) }
        guard position < rows.count else { return nil }
        position += 1
        return rows[position - 1]
    }

    /// Goes on to the first row that is not below `row`, and stays at the one that was given last if it is such a one. Call `next` first.
    /// - Complexity: O(log rows), whatever number of rows it passes.
    mutating func seek(_ row: UInt64) throws -> UInt64? {
        while let last = rows.last {
            if last >= row { return found(row) }
            position = rows.count
            guard cursor != nil else { return nil }
            if isNear(row, last) {
                try take(first: nil)
            } else {
                pieceCount = Self.pieceCountMin
                guard let found = try cursor?.seek(row: row) else {
                    rows.removeAll()
                    cursor = nil
                    return nil
                }
                try take(first: found)
            }
        }
        return nil
    }

    /// Whether a row is probably among the next few, as far as the last piece tells.
    private func isNear(_ row: UInt64, _ last: UInt64) -> Bool {
        let width = last - rows[0] + 1
        let (product, isTooMuch) = (row - last).multipliedReportingOverflow(by: UInt64(rows.count))
        return !isTooMuch && product / width <= Self.searchCost
    }

    /// The piece's first row from the one that was given last on that is not below `row`; the piece has one.
    private mutating func found(_ row: UInt64) -> UInt64 {
        // Most often it is one of the next few.
        var low = max(0, position - 1), step = 1
        while low + step < rows.count, rows[low + step] < row {
            low += step
            step *= 2
        }
        var high = min(low + step, rows.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle] < row { low = middle + 1 } else { high = middle }
        }
        position = low + 1
        return rows[low]
    }

    /// Takes the next piece. `rows` is empty at the end.
    /// - Parameter first: the row that the cursor is at, if it has given one.
    private mutating func take(first: UInt64?) throws {
        guard var cursor = self.cursor else { return }
        self.cursor = nil
        let count = pieceCount, kept = first == nil ? 0 : 1
        pieceCount = min(count * 2, Self.pieceCountMax)
        var failure: StoreError?
        rows = Array(unsafeUninitializedCapacity: count + kept) { buffer, used in
            if let first { buffer[0] = first }
            do throws(StoreError) {
                used = kept + (try cursor.take(into: UnsafeMutableBufferPointer(rebasing: buffer[kept...])))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        position = 0
        self.cursor = cursor
    }
}
