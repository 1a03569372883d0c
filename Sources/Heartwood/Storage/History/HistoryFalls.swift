import RecordLog

/// The transactions of a history that are earlier than one before them: a clock that was ahead has been set right, or a right one was set back.
/// Spec: FORMAT.md, "History".
///
/// Between two of them times rise with the numbers, so a date is found by halving there. The list is short, whatever clocks do: where it is
/// full, it forgets the oldest fall, and the transactions before the next one are looked through one by one.
struct HistoryFalls: Equatable {
    /// In seconds. Where the clock falls back by no more, as when it is adjusted to a time server, there is no fall: the transaction gets the time
    /// just behind the one before.
    static let tolerance = 5.0
    static let countMax = 64

    /// Whether the transactions before the first fall of the list are in no order.
    private(set) var isBeginningMixed = false
    /// Rising.
    private(set) var numbers: [UInt64] = []

    /// Transactions that lie one after the other.
    struct Run: Equatable {
        var range: Range<UInt64>
        /// Whether their times rise.
        var rises: Bool
    }

    init() {}

    /// Those of a history, as of one commit.
    init(of table: TableID, in snapshot: Snapshot) throws(StoreError) {
        if let bytes = try snapshot.systemValue(RecordLogSystemRow.historyFalls) { self.init(bytes, of: table) } else { self.init() }
    }

    /// The runs of a part of the history.
    func runs(in bounds: Range<UInt64>) -> [Run] {
        var runs: [Run] = [], first = bounds.lowerBound
        for (index, end) in (numbers + [bounds.upperBound]).enumerated() where end > first && first < bounds.upperBound {
            runs.append(Run(range: first..<min(end, bounds.upperBound), rises: index > 0 || !isBeginningMixed))
            first = end
        }
        return runs
    }

    /// Notes one more.
    /// - Parameters:
    ///   - number: higher than those of the list.
    ///   - first: the first transaction that is left of the history; a fall says nothing where all before it is deleted.
    mutating func note(_ number: UInt64, first: UInt64) {
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

    /// Calls `body` with each transaction of a store's history that is not later than the one before and in no list: a salvage has lost the list, or
    /// another program has written the row. A search by date may miss transactions for it.
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

    func encoded(of table: TableID) -> [UInt8] {
        var bytes: [UInt8] = [Self.version, isBeginningMixed ? 1 : 0]
        withUnsafeBytes(of: table.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
        for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// Bytes that are no such list tell nothing of any transaction. A list of another history, which was ended, tells nothing of this one.
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
