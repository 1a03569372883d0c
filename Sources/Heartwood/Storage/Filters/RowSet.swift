import RecordLog

/// A set of rows with a bit for each: rows are numbered densely, so ten million rows take little more than a megabyte. A small set is a list,
/// since a bitmap needs space for all lower row numbers. A set whose rows lie far apart, as a damaged index or a converted store may name them,
/// is a hash table.
///
/// Invariants:
/// 1. `few` is ascending, without duplicates.
/// 2. At most one of `few`, `words` and `sparse` has rows.
/// 3. There are at most `wordsFirst` words, and `wordsForRow` more for each row, or twice as many, since arrays double.
struct RowSet {
    private var few: [RowReference] = []
    /// By table ID, with 64 rows in a word.
    private var words: [[UInt64]] = []
    /// Of all tables.
    private var wordCount = 0
    private var sparse: Set<RowReference> = []
    private(set) var count = 0

    /// Beyond this size bits are faster than the list.
    private static let fewMax = 256
    /// The list's initial capacity.
    private static let fewFirst = 16
    /// Bits for 67 million rows, 8 MiB.
    private static let wordsFirst = 1 << 20
    /// A hash table is no smaller.
    private static let wordsForRow = 4

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
            guard sparse.isEmpty else { return sparse.contains(row) }
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
        if words.isEmpty, sparse.isEmpty {
            let isLast = few.last.map { $0.rawValue < row.rawValue } ?? true
            let index = isLast ? few.count : index(of: row)
            guard isLast || few[index] != row else { return false }
            if few.count < Self.fewMax {
                if few.isEmpty { few.reserveCapacity(Self.fewFirst) }
                if isLast { few.append(row) } else { few.insert(row, at: index) }
                count += 1
                return true
            }
            let rows = few
            few = []
            for one in rows { place(one) }
        }
        guard place(row) else { return false }
        count += 1
        return true
    }

    /// Adds a row to the bits, or to the hash table.
    @discardableResult
    private mutating func place(_ row: RowReference) -> Bool {
        guard sparse.isEmpty else { return sparse.insert(row).inserted }
        let table = Int(row.table.rawValue), word = Int(row.row / 64)
        while words.count <= table { words.append([]) }
        let missing = word + 1 - words[table].count
        if missing > 0 {
            guard wordCount + missing <= Self.wordsFirst + count * Self.wordsForRow else {
                sparse = Set(list)
                words = []
                return sparse.insert(row).inserted
            }
            wordCount += words[table].grow(by: missing)
        }
        return words[table].setBit(row.row)
    }

    /// Calls `body` with each row, ordered by table and number.
    func forEach(_ body: (RowReference) throws -> Void) rethrows {
        if words.isEmpty { for row in list { try body(row) } }
        for (table, words) in words.enumerated() {
            var numbers = Numbers(list: [], words: words)
            while let row = numbers.next() { try body(RowReference(table: TableID(rawValue: UInt16(table)), row: row)) }
        }
    }

    /// The rows, ordered by table and number.
    var list: [RowReference] {
        if words.isEmpty { return sparse.isEmpty ? few : Self.sorted(sparse) }
        var result: [RowReference] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }

    private static func sorted(_ rows: Set<RowReference>) -> [RowReference] { rows.sorted { $0.rawValue < $1.rawValue } }

    /// Gives the numbers of one table's rows, ascending.
    func rows(of table: TableID) -> Numbers {
        let index = Int(table.rawValue)
        if index < words.count { return Numbers(list: [], words: words[index]) }
        let own = sparse.isEmpty ? few.filter { $0.table == table } : Self.sorted(sparse.filter { $0.table == table })
        return Numbers(list: own, words: [])
    }

    /// The numbers of one table's rows, ascending.
    struct Numbers: IteratorProtocol {
        private let list: [RowReference]
        private let words: [UInt64]
        private var index = 0
        /// The bits of the current word that `next` has not given yet.
        private var left: UInt64

        fileprivate init(list: [RowReference], words: [UInt64]) {
            self.list = list
            self.words = words
            left = words.first ?? 0
        }

        mutating func next() -> UInt64? {
            if index < list.count {
                index += 1
                return list[index - 1].row
            }
            while left == 0 {
                index += 1
                guard index < words.count else { return nil }
                left = words[index]
            }
            let bit = left.trailingZeroBitCount
            left &= left - 1
            return UInt64(index * 64 + bit)
        }
    }
}

extension [UInt64] {
    /// Appends words, at least as many as there are.
    /// - Returns: how many.
    fileprivate mutating func grow(by missing: Int) -> Int {
        let more = Swift.max(missing, count)
        append(contentsOf: repeatElement(0, count: more))
        return more
    }

    /// - Returns: true where the bit was not set.
    fileprivate mutating func setBit(_ number: UInt64) -> Bool {
        let word = Int(number / 64), bit = UInt64(1) << (number % 64)
        return withUnsafeMutableBufferPointer { words in
            guard words[word] & bit == 0 else { return false }
            words[word] |= bit
            return true
        }
    }
}
