import Foundation
import RecordLog

/// One store's history as of one commit.
struct HistoryReader {
    let source: HistorySource
    private let table: HistoryTable
    private let snapshot: Snapshot

    init(_ table: HistoryTable, _ view: RecordLogView, of store: RecordLogStore) {
        self.table = table
        snapshot = view.snapshot
        source = HistorySource(store, view, table)
    }

    /// Behind the newest transaction.
    var end: UInt64 { max(snapshot.rowLimit(table.id), 1) }

    /// The place behind the newest transaction. One row is read.
    func newestPlace() throws -> NSPersistentHistoryToken.Place {
        let row = try snapshot.row(RowReference(table: table.id, row: end - 1))
        return .init(table: table.id.rawValue, number: Int64(end - 1), time: row.map(table.timestamp) ?? 0)
    }

    /// The first row from a number on.
    private func firstRow(from number: UInt64) throws -> RowView? {
        var found: RowView?
        try snapshot.scan(table.id, from: number) { row in
            found = row
            return false
        }
        return found
    }

    /// The number of the first transaction that is not earlier than a time.
    /// - Parameter isAfter: the first that is later.
    /// - Complexity: O(log n) rows are read, since times rise with the numbers.
    func first(since time: Double, isAfter: Bool) throws -> UInt64 {
        guard var low = try firstRow(from: 1)?.reference.row else { return end }
        var high = end
        while low < high {
            let middle = low + (high - low) / 2
            guard let row = try firstRow(from: middle), row.reference.row < high else {
                high = middle
                continue
            }
            let found = table.timestamp(of: row)
            if isAfter ? found > time : found >= time { high = middle } else { low = row.reference.row + 1 }
        }
        return low
    }

    /// The number of the transaction behind which a place is; 0 for none.
    /// - Throws: 134301 where the place is of another history.
    func number(of place: NSPersistentHistoryToken.Place) throws -> UInt64 {
        guard place.table == table.id.rawValue, place.number >= 0, let number = UInt64(exactly: place.number), number < end else {
            throw expired("names a transaction that the store has not made; it was put back to an older state, or its history was begun anew")
        }
        if number > 0, place.time != 0, let row = try snapshot.row(RowReference(table: table.id, row: number)),
            table.timestamp(of: row) != place.time
        {
            throw expired("names a transaction that the store has not made; it was put back to an older state")
        }
        return number
    }

    /// The number behind a place.
    /// - Throws: 134301 as above, and where what came behind it is not all there.
    func number(behind place: NSPersistentHistoryToken.Place) throws -> UInt64 {
        let number = try number(of: place)
        if number + 1 < end, try !snapshot.contains(RowReference(table: table.id, row: number + 1)) {
            throw expired("is older than what is left of the history")
        }
        return number + 1
    }

    private func expired(_ what: String) -> NSError {
        CoreDataError.make(
            NSPersistentHistoryTokenExpiredError,
            "The history token \(what) (\(source.path)). Read the store itself, and go on from its current token.",
            [NSFilePathErrorKey: source.path])
    }

    /// Calls `body` with each transaction from a number on, in their order, until it returns false. What it is given may be kept.
    /// - Parameter isWhole: whether a transaction that is missing between others is an error: 134301.
    /// - Complexity: O(transactions); changes are not looked at.
    func forEach(from first: UInt64, isWhole: Bool, _ body: (HistoryRecord) throws -> Bool) throws {
        var expected = first
        try snapshot.scan(table.id, from: first) { row in
            let record = try HistoryRecord(row, table, source, snapshot)
            if isWhole, row.reference.row != expected || !record.hasChanges { throw expired("is older than a part of the history that is lost") }
            expected = row.reference.row + 1
            return try body(record)
        }
    }

    /// Looks through a transaction's changes.
    /// - Returns: how many it has.
    func check(_ record: HistoryRecord) throws -> Int { try record.check(snapshot.rowLimit) }
}
