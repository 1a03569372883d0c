import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// The history that Core Data keeps in its file: transactions in `ATRANSACTION`, their changes in `ACHANGE`. Facts, "history".
///
/// (1) A transaction's number and a change's are their keys, which rise.
/// (2) Texts are in `ATRANSACTIONSTRING`, to which columns with `TS` refer; older files have them in the transaction. Facts, "history".
/// (3) A change of an entity that the model lacks is left out.
struct SQLiteHistory: StoreHistory {
    let source: HistorySource
    private let file: SQLiteSource
    private let schema: RecordLogSchema
    /// The numbers of the first transaction and of the last one; nil if there is none.
    private let bounds: (first: Int64, last: Int64, time: Double)?

    /// - Returns: nil if the file has no history.
    init?(_ store: SQLiteStore, _ file: SQLiteSource, _ schema: RecordLogSchema) throws {
        self.file = file
        self.schema = schema
        source = HistorySource(store, schema, path: file.path)
        guard let found = try file.read(Self.bounds) else { return nil }
        bounds = found.bounds
    }

    private struct Extent {
        let bounds: (first: Int64, last: Int64, time: Double)?
    }

    private static func bounds(_ reader: CoreDataReader) throws -> Extent? {
        guard Self.tables.allSatisfy({ reader.file.schema.entry(.table, named: $0) != nil }) else { return nil }
        let table = try reader.file.table(named: "ATRANSACTION")
        var cursor = try table.rows()
        guard try cursor.next() else { return Extent(bounds: nil) }
        let first = cursor.row.rowid
        _ = try cursor.last()
        let time = try table.index(ofColumn: "ZTIMESTAMP").flatMap { try cursor.row.real($0) } ?? 0
        return Extent(bounds: (first, cursor.row.rowid, time))
    }

    private static let tables = ["ATRANSACTION", "ACHANGE"]

    // MARK: Positions

    func newestPosition() throws -> NSPersistentHistoryToken.Position {
        .init(table: NSPersistentHistoryToken.Position.noTable, number: newestNumber, time: bounds?.time ?? 0)
    }

    /// 0 if there is no transaction, or only some with numbers that Core Data does not give.
    private var newestNumber: Int64 { max(0, bounds?.last ?? 0) }

    func selection(_ times: HistorySelection.Times) throws -> HistorySelection { HistorySelection([1..<UInt64.max], times) }

    func number(of position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        guard position.table == NSPersistentHistoryToken.Position.noTable, position.number >= 0, position.number <= newestNumber else {
            throw expired("names a transaction that the store has not; it was put back to an older state, or its history was begun anew")
        }
        return UInt64(position.number)
    }

    func number(behind position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        let number = try number(of: position)
        if number > 0, let bounds, number + 1 < bounds.first { throw expired("is older than the rest of the history") }
        return number + 1
    }

    // MARK: Transactions

    func check(_ record: HistoryRecord) throws -> Int { try record.check { _ in 0 } }

    func forEach(_ selection: HistorySelection, isWhole: Bool, _ body: (HistoryRecord) throws -> Bool) throws {
        let records = try file.read { try SQLiteHistoryRows($0, schema).records(selection, source) }
        for record in records { guard try body(record) else { return } }
    }
}
