import RecordLog

/// The transactions of a history whose time is earlier than that of the transaction before: a clock was set back. Spec: docs/format/stack.md,
/// "History".
///
/// Between two falls times rise with transaction numbers, so a date is found there by binary search. The list has a maximal length: when it is
/// full, the oldest fall is forgotten, and the transactions before the next one are searched one by one.
package struct HistoryFalls: Equatable {
    /// In seconds. A smaller step back, such as an adjustment by a time server, is no fall: the transaction gets the next time after that of the
    /// one before.
    package static let tolerance = 5.0
    static let countMax = 64

    /// Whether the times of the transactions before the first listed fall have no order.
    private(set) var isBeginningMixed = false
    /// Transaction numbers, ascending.
    package private(set) var numbers: [UInt64] = []

    /// Consecutive transactions.
    struct Run: Equatable {
        var range: Range<UInt64>
        /// Whether their times ascend.
        var rises: Bool
    }

    package init() {}

    /// Reads the falls of a history as of one commit.
    init(of table: TableID, in snapshot: Snapshot) throws(StoreError) {
        if let bytes = try snapshot.unsafeSystemValue(RecordLogSystemRow.historyFalls) { self.init(bytes, of: table) } else { self.init() }
    }

    /// Splits a part of the history into runs.
    func runs(in bounds: Range<UInt64>) -> [Run] {
        var runs: [Run] = [], first = bounds.lowerBound
        for (index, end) in (numbers + [bounds.upperBound]).enumerated() where end > first && first < bounds.upperBound {
            runs.append(Run(range: first..<min(end, bounds.upperBound), rises: index > 0 || !isBeginningMixed))
            first = end
        }
        return runs
    }

    /// Adds a fall.
    /// - Parameters:
    ///   - number: higher than all numbers in the list.
    ///   - first: the first remaining transaction of the history. Falls up to it are removed: no transaction before them is left.
    package mutating func note(_ number: UInt64, first: UInt64) {
        let left = numbers.drop { $0 <= first }
        if left.count < numbers.count {
            numbers = Array(left)
            isBeginningMixed = false
        }
        if numbers.count >= Self.countMax {
            numbers.removeFirst(numbers.count - Self.countMax + 1)
            isBeginningMixed = true
        }
        numbers.append(number)
    }

    /// Calls `body` with each transaction that is not later than the one before it and is not in the list. A salvage that lost the list or another
    /// program can cause this. A search by date may miss transactions then.
    /// - Complexity: O(transactions).
    static func forEachUnlisted(in snapshot: Snapshot, _ body: (UInt64) -> Void) throws {
        guard let table = try HistoryTable(snapshot.catalog), snapshot.rowLimit(table.id) > 1 else { return }
        for run in try HistoryFalls(of: table.id, in: snapshot).runs(in: 1..<snapshot.rowLimit(table.id)) where run.rises {
            var last = -Double.infinity
            try snapshot.scan(table.id, from: run.range.lowerBound) { row in
                guard row.reference.row < run.range.upperBound else { return false }
                let time = table.timestamp(of: row)
                if !(time > last) { body(row.reference.row) }
                last = time
                return true
            }
        }
    }

    // MARK: Coding

    private static let version: UInt8 = 1
    private static let numbersOffset = 4

    package func encoded(of table: TableID) -> [UInt8] {
        var bytes: [UInt8] = [Self.version, isBeginningMixed ? 1 : 0]
        withUnsafeBytes(of: table.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
        for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// Malformed bytes give an empty list that assumes no order. The list of another history, which has ended, gives an empty list.
    init(_ bytes: UnsafeRawBufferPointer, of table: TableID) {
        isBeginningMixed = true
        let size = MemoryLayout<UInt64>.size
        guard bytes.count >= Self.numbersOffset, (bytes.count - Self.numbersOffset) % size == 0, bytes[0] == Self.version, bytes[1] <= 1
        else { return }
        guard UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) == table.rawValue else {
            isBeginningMixed = false
            return
        }
        let found = stride(from: Self.numbersOffset, to: bytes.count, by: size).map {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
        }
        guard found.count <= Self.countMax, zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) else { return }
        isBeginningMixed = bytes[1] == 1
        numbers = found
    }
}
