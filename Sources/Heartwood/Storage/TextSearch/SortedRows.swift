/// Sorts row numbers.
enum SortedRows {
    /// Rows that lie this close are marked in a bitmap: up to so many bits for each.
    private static let bitsMax: UInt64 = 256

    /// Returns the rows, ascending, each once.
    /// - Complexity: O(rows) where they lie close, O(rows · log rows) otherwise.
    static func distinct(_ rows: [UInt64]) -> [UInt64] {
        guard let first = rows.min(), let last = rows.max() else { return [] }
        return last - first < UInt64(rows.count) * bitsMax ? marked(rows, first, last) : sorted(rows)
    }

    private static func sorted(_ rows: [UInt64]) -> [UInt64] {
        var result = rows
        result.sort()
        var count = 0
        for index in result.indices where index == 0 || result[index] != result[index - 1] {
            result[count] = result[index]
            count += 1
        }
        result.removeLast(result.count - count)
        return result
    }

    private static func marked(_ rows: [UInt64], _ first: UInt64, _ last: UInt64) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: Int((last - first) / 64) + 1)
        for row in rows { words[Int((row - first) / 64)] |= 1 << ((row - first) % 64) }
        var result: [UInt64] = []
        result.reserveCapacity(rows.count)
        for (index, word) in words.enumerated() where word != 0 {
            var left = word
            while left != 0 {
                result.append(first + UInt64(index) * 64 + UInt64(left.trailingZeroBitCount))
                left &= left - 1
            }
        }
        return result
    }
}
