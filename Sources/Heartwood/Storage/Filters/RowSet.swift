import RecordLog

/// A set of rows with a bit for each: rows are numbered densely, so ten million rows take little more than a megabyte. A small set is a list,
/// since a bitmap needs space for all lower row numbers.
///
/// Invariants:
/// 1. `few` is ascending, without duplicates.
/// 2. `few` is empty once there are words.
struct RowSet {
    private var few: [RowReference] = []
    /// By table ID, with 64 rows in a word.
    private var words: [[UInt64]] = []
    private(set) var count = 0

    /// Beyond this size bits are faster than the list.
    private static let fewMax = 256
    /// The list's initial capacity.
    private static let fewFirst = 16

    init() {}

    /// - Parameter rows: in any order. Rows that ascend, each once, stay a list, which costs least to make and to walk.
    init(_ rows: [RowReference]) {
        guard zip(rows, rows.dropFirst()).allSatisfy({ $0.rawValue < $1.rawValue }) else {
            for row in rows { insert(row) }
            return
        }
        (few, count) = (rows, rows.count)
    }

    func contains(_ row: RowReference) -> Bool {
        if words.isEmpty {
            let index = index(of: row)
            return index < few.count && few[index] == row
        }
        let table = Int(row.table.rawValue), word = Int(row.row / 64)
        guard table < words.count, word < words[table].count else { return false }
        return words[table][word] & 1 << (row.row % 64) != 0
    }

    /// Returns the row's position in `few`, or the position at which to insert it.
    @inline(__always)
    private func index(of row: RowReference) -> Int {
        var start = 0, length = few.count
        while length > 0 {
            let half = length / 2
            if few[start &+ half].rawValue < row.rawValue { start &+= length &- half }
            length = half
        }
        return start
    }

    /// - Returns: true where the set did not contain the row.
    /// - Complexity: O(1) for rows in ascending order.
    @discardableResult
    mutating func insert(_ row: RowReference) -> Bool {
        if words.isEmpty {
            let isLast = few.last.map { $0.rawValue < row.rawValue } ?? true
            let index = isLast ? few.count : index(of: row)
            guard isLast || few[index] != row else { return false }
            if few.count < Self.fewMax {
                if few.isEmpty { few.reserveCapacity(Self.fewFirst) }
                if isLast { few.append(row) } else { few.insert(row, at: index) }
                count += 1
                return true
            }
            for one in few { insertBit(one) }
            few = []
        }
        guard insertBit(row) else { return false }
        count += 1
        return true
    }

    @discardableResult
    private mutating func insertBit(_ row: RowReference) -> Bool {
        let table = Int(row.table.rawValue)
        while words.count <= table { words.append([]) }
        return words[table].setBit(row.row)
    }

    /// Returns the first row of a table with this number or a higher one.
    /// - Complexity: O(words between).
    func firstRow(of table: TableID, from row: UInt64) -> UInt64? {
        if words.isEmpty {
            let index = index(of: RowReference(table: table, row: row))
            return index < few.count && few[index].table == table ? few[index].row : nil
        }
        guard Int(table.rawValue) < words.count else { return nil }
        let words = words[Int(table.rawValue)]
        var index = Int(row / 64)
        guard index < words.count else { return nil }
        var left = words[index] & (UInt64.max << (row % 64))
        while left == 0 {
            index += 1
            guard index < words.count else { return nil }
            left = words[index]
        }
        return UInt64(index * 64 + left.trailingZeroBitCount)
    }

    /// Calls `body` with each row, ordered by table and number.
    func forEach(_ body: (RowReference) throws -> Void) rethrows {
        for row in few { try body(row) }
        for (table, words) in words.enumerated() {
            for (index, word) in words.enumerated() {
                var left = word
                while left != 0 {
                    let bit = left.trailingZeroBitCount
                    left &= left - 1
                    try body(RowReference(table: TableID(rawValue: UInt16(table)), row: UInt64(index * 64 + bit)))
                }
            }
        }
    }

    /// The rows, ordered by table and number.
    var list: [RowReference] {
        if words.isEmpty { return few }
        var result: [RowReference] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }
}

extension [UInt64] {
    /// Sets a bit, and appends words where needed.
    /// - Returns: true where the bit was not set.
    fileprivate mutating func setBit(_ number: UInt64) -> Bool {
        let word = Int(number / 64), bit = UInt64(1) << (number % 64)
        if count <= word { append(contentsOf: repeatElement(0, count: Swift.max(word + 1 - count, count))) }
        return withUnsafeMutableBufferPointer { words in
            guard words[word] & bit == 0 else { return false }
            words[word] |= bit
            return true
        }
    }
}
