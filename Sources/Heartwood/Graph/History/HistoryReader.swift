import Foundation
import RecordLog

/// The history of one store.
package protocol StoreHistory {
    var source: HistorySource { get }

    /// The position after the newest transaction.
    func newestPosition() throws -> NSPersistentHistoryToken.Position

    /// The transactions whose times satisfy a condition; `forEach` may test more of them.
    func selection(_ times: HistorySelection.Times) throws -> HistorySelection

    /// The number of the transaction before a position; 0 for none.
    /// - Throws: 134301 where the position belongs to another history.
    func number(of position: NSPersistentHistoryToken.Position) throws -> UInt64

    /// The number after a position.
    /// - Throws: 134301 as `number(of:)` does, and where the next transaction was deleted.
    func number(behind position: NSPersistentHistoryToken.Position) throws -> UInt64

    /// Calls `body` with each selected transaction, in the order of their numbers, until it returns false. `body` may keep the records.
    /// - Parameter isWhole: whether a transaction that is missing between others is an error: 134301.
    func forEach(_ selection: HistorySelection, isWhole: Bool, _ body: (HistoryRecord) throws -> Bool) throws

    /// Checks a transaction's changes.
    /// - Returns: the number of its changes.
    func check(_ record: HistoryRecord) throws -> Int
}

extension StoreHistory {
    package func expired(_ what: String) -> NSError {
        CoreDataError.make(
            NSPersistentHistoryTokenExpiredError,
            "The history token \(what) (\(source.path)). Read the store itself, and go on from its current token.",
            [NSFilePathErrorKey: source.path])
    }
}

/// The history of a record log as of one commit.
struct HistoryReader: StoreHistory {
    let source: HistorySource
    private let table: HistoryTable
    private let snapshot: Snapshot

    init(_ table: HistoryTable, _ view: RecordLogView, of store: RecordLogStore) {
        self.table = table
        snapshot = view.snapshot
        source = HistorySource(store, view, table)
    }

    /// The number after the newest transaction's.
    var end: UInt64 { max(snapshot.rowLimit(table.id), 1) }

    /// The position after the newest transaction. Reads one row.
    func newestPosition() throws -> NSPersistentHistoryToken.Position {
        let row = try snapshot.unsafeRow(RowReference(table: table.id, row: end - 1))
        return .init(table: table.id.rawValue, number: Int64(end - 1), time: row.map(table.timestamp) ?? 0)
    }

    /// The first row with this number or a higher one.
    private func firstRow(from number: UInt64) throws -> UnsafeRowView? {
        var found: UnsafeRowView?
        try snapshot.scan(table.id, from: number) { row in
            found = row
            return false
        }
        return found
    }

    /// The transactions whose times satisfy a condition.
    /// - Complexity: reads O(log n) rows for each run of rising times (see `HistoryFalls`). Runs without an order are selected whole; `forEach`
    ///   tests their rows.
    func selection(_ times: HistorySelection.Times) throws -> HistorySelection {
        guard let first = try firstRow(from: 1)?.reference.row, first < end else { return HistorySelection([], times) }
        var ranges: [Range<UInt64>] = []
        for run in try HistoryFalls(of: table.id, in: snapshot).runs(in: first..<end) {
            let found: Range<UInt64> = switch times {
            case .after(let time) where run.rises: try turn(in: run.range) { $0 > time }..<run.range.upperBound
            case .before(let time) where run.rises: run.range.lowerBound..<(try turn(in: run.range) { $0 >= time })
            default: run.range
            }
            guard !found.isEmpty else { continue }
            if let last = ranges.last, last.upperBound == found.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<found.upperBound
            } else {
                ranges.append(found)
            }
        }
        return HistorySelection(ranges, times)
    }

    /// The first number from which all transactions of a range are late. The times in the range must rise.
    private func turn(in range: Range<UInt64>, _ isLate: (Double) -> Bool) throws -> UInt64 {
        var low = range.lowerBound, high = range.upperBound
        while low < high {
            let middle = low + (high - low) / 2
            guard let row = try firstRow(from: middle), row.reference.row < high else {
                high = middle
                continue
            }
            if isLate(table.timestamp(of: row)) { high = middle } else { low = row.reference.row + 1 }
        }
        return low
    }

    /// The number of the transaction before a position; 0 for none.
    /// - Throws: 134301 where the position belongs to another history.
    func number(of position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        // The history of a store without a record log has no table's number. If this store was made of one, it has that history's numbers and times.
        let isKnown = position.table == table.id.rawValue || position.table == NSPersistentHistoryToken.Position.noTable
        guard isKnown, position.number >= 0, let number = UInt64(exactly: position.number), number < end else {
            throw expired("names a transaction that the store has not made; it was put back to an older state, or its history was begun anew")
        }
        if number > 0, position.time != 0, let row = try snapshot.unsafeRow(RowReference(table: table.id, row: number)),
            table.timestamp(of: row) != position.time
        {
            throw expired("names a transaction that the store has not made; it was put back to an older state")
        }
        return number
    }

    /// The number after a position.
    /// - Throws: 134301 as `number(of:)` does, and where the next transaction was deleted.
    func number(behind position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        let number = try number(of: position)
        if number + 1 < end, try !snapshot.contains(RowReference(table: table.id, row: number + 1)) {
            throw expired("is older than the rest of the history")
        }
        return number + 1
    }

    /// Calls `body` with each selected transaction, in the order of their numbers, until it returns false. `body` may keep the records.
    /// - Parameter isWhole: whether a transaction that is missing between others is an error: 134301.
    /// - Complexity: O(transactions); changes are not read.
    func forEach(_ selection: HistorySelection, isWhole: Bool, _ body: (HistoryRecord) throws -> Bool) throws {
        for range in selection.ranges {
            var expected = range.lowerBound, goesOn = true
            try snapshot.scan(table.id, from: range.lowerBound) { row in
                guard row.reference.row < range.upperBound else { return false }
                guard selection.times.holds(for: table.timestamp(of: row)) else { return true }
                let record = try HistoryRecord(row, table, source, snapshot)
                if isWhole, row.reference.row != expected || !record.hasChanges {
                    throw expired("is older than a part of the history that is gone")
                }
                expected = row.reference.row + 1
                goesOn = try body(record)
                return goesOn
            }
            guard goesOn else { return }
        }
    }

    /// Checks a transaction's changes.
    /// - Returns: the number of its changes.
    func check(_ record: HistoryRecord) throws -> Int { try record.check(snapshot.rowLimit) }
}
