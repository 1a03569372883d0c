import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Checks the history: each change has a kind, an entity, a key, and its transaction; each transaction has a time and the texts that it names.
struct HistoryAudit {
    private let run: AuditRun
    private let file: SQLiteFile
    private let entities: Set<Int64>

    init(_ run: AuditRun, _ file: SQLiteFile, _ numbers: EntityNumbers) {
        (self.run, self.file) = (run, file)
        entities = Set(numbers.entries.map(\.number))
    }

    private static let tables = ["ACHANGE", "ATRANSACTION"]
    private static let texts = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]

    /// The table of changes exists.
    func check() throws {
        guard Self.tables.allSatisfy({ file.schema.entry(.table, named: $0) != nil }) else { return }
        try checkTransactions()
        try checkChanges()
    }

    private func checkTransactions() throws {
        let table = try file.table(named: "ATRANSACTION")
        let strings = file.schema.entry(.table, named: "ATRANSACTIONSTRING") == nil ? nil : try KeyFinder(file.table(named: "ATRANSACTIONSTRING"))
        let columns = Self.texts.compactMap(table.index(ofColumn:)), time = table.index(ofColumn: "ZTIMESTAMP")
        try table.forEachRow { row in
            run.countRow()
            if let time, try row.real(time) == nil {
                run.found(table, row.rowid, time, "it has \(ValueFault.name(try row.kind(time))) where a time belongs")
            }
            for column in columns {
                guard let key = try row.integer(column), try strings?.has(key) == false else { continue }
                run.foundNoRow(key, of: "ATRANSACTIONSTRING", table, row.rowid, column)
            }
            return true
        }
    }

    private func checkChanges() throws {
        let table = try file.table(named: "ACHANGE")
        let transactions = try KeyFinder(file.table(named: "ATRANSACTION"))
        let columns = ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map(table.index(ofColumn:))
        guard let type = columns[0], let entity = columns[1], let key = columns[2], let transaction = columns[3]
        else { return run.found(table.name, "it lacks a column for the kind, the entity, the key or the transaction") }
        try table.forEachRow { row in
            run.countRow()
            let rowid = row.rowid
            func found(_ column: Int, _ message: String) { run.found(table, rowid, column, message) }
            if try row.integer(type).map({ !(0...2).contains($0) }) ?? true { found(type, "it is no kind of change") }
            if try row.integer(entity).map({ !entities.contains($0) }) ?? true { found(entity, "it is no entity's number") }
            if try row.integer(key).map({ $0 < 1 }) ?? true { found(key, "it is no key") }
            if let number = try row.integer(transaction) {
                if try !transactions.has(number) { found(transaction, "there is no transaction \(number)") }
            } else {
                found(transaction, "it has \(ValueFault.name(try row.kind(transaction))) where a transaction's key belongs")
            }
            return true
        }
    }
}
