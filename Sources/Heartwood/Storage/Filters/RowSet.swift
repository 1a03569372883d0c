import RecordLog

/// A set of rows, a bit each: rows are numbered densely, so that ten million marks are little more than a megabyte. A few of them are a list,
/// since one bit takes as many words as there are before it.
///
/// Invariants:
/// 1. `few` is in rising order, each row once.
/// 2. `few` is empty once there are words.
struct RowSet {
    private var few: [RowReference] = []
    /// By table ID, 64 rows a word.
    private var words: [[UInt64]] = []
    private(set) var count = 0

    /// More are found faster as bits.
    private static let fewMax = 256
    /// Room for so many is made at once.
    private static let fewFirst = 16

    func contains(_ row: RowReference) -> Bool {
        if words.isEmpty {
            let place = place(of: row)
            return place < few.count && few[place] == row
        }
        let table = Int(row.table.rawValue), word = Int(row.row / 64)
        guard table < words.count, word < words[table].count else { return false }
        return words[table][word] & 1 << (row.row % 64) != 0
    }

    /// Where a row is in `few`, or would be.
    @inline(__always)
    private func place(of row: RowReference) -> Int {
        var start = 0, length = few.count
        while length > 0 {
            let half = length / 2
            if few[start &+ half].rawValue < row.rawValue { start &+= length &- half }
            length = half
        }
        return start
    }

    /// - Returns: whether the row was not marked before.
    /// - Complexity: O(1) for rows that come in rising order.
    @discardableResult
    mutating func insert(_ row: RowReference) -> Bool {
        if words.isEmpty {
            let isLast = few.last.map { $0.rawValue < row.rawValue } ?? true
            let place = isLast ? few.count : place(of: row)
            guard isLast || few[place] != row else { return false }
            if few.count < Self.fewMax {
                if few.isEmpty { few.reserveCapacity(Self.fewFirst) }
                if isLast { few.append(row) } else { few.insert(row, at: place) }
                count += 1
                return true
            }
            for one in few { mark(one) }
            few = []
        }
        guard mark(row) else { return false }
        count += 1
        return true
    }

    @discardableResult
    private mutating func mark(_ row: RowReference) -> Bool {
        let table = Int(row.table.rawValue)
        while words.count <= table { words.append([]) }
        return words[table].setBit(row.row)
    }

    /// The first row of a table, from a number on.
    /// - Complexity: O(words between).
    func firstRow(of table: TableID, from row: UInt64) -> UInt64? {
        if words.isEmpty {
            let place = place(of: RowReference(table: table, row: row))
            return place < few.count && few[place].table == table ? few[place].row : nil
        }
        guard Int(table.rawValue) < words.count else { return nil }
        let words = words[Int(table.rawValue)]
        var place = Int(row / 64)
        guard place < words.count else { return nil }
        var left = words[place] & (UInt64.max << (row % 64))
        while left == 0 {
            place += 1
            guard place < words.count else { return nil }
            left = words[place]
        }
        return UInt64(place * 64 + left.trailingZeroBitCount)
    }

    /// In the order of the tables and their rows.
    func forEach(_ body: (RowReference) throws -> Void) rethrows {
        for row in few { try body(row) }
        for (table, words) in words.enumerated() {
            for (place, word) in words.enumerated() {
                var left = word
                while left != 0 {
                    let bit = left.trailingZeroBitCount
                    left &= left - 1
                    try body(RowReference(table: TableID(rawValue: UInt16(table)), row: UInt64(place * 64 + bit)))
                }
            }
        }
    }

    /// In the order of the tables and their rows.
    var list: [RowReference] {
        if words.isEmpty { return few }
        var result: [RowReference] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }
}

extension [UInt64] {
    /// Sets one of the words' bits, and makes room for it.
    /// - Returns: whether it was not set.
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
