import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Writes the history of a file of Core Data's as the history of a record log, under the same transaction numbers.
///
/// (1) The history of a record log names no order of the changes within a transaction: they come by entity and key. Of several changes of one
///     object in a transaction one is left: its insertion or its deletion, else an update of all properties that any of them names.
/// (2) Times rise with the numbers, as in every record log: a time that is at most five seconds before the last one becomes the next after it, and
///     a greater step back is listed as a fall (`HistoryFalls`).
/// (3) Changes of entities that the model lacks are left out.
/// (4) Changes of one transaction are in memory at once.
struct ConvertedHistory {
    private let rows: SQLiteHistoryRows
    private let target: ConversionTarget
    private let changeRows: ChangeRows
    private var history: ConversionReport.History
    private var preserved: [TableID: PreservedColumns] = [:]
    private var falls = HistoryFalls()
    private var first: UInt64 = 0
    private var lastTime = -Double.infinity

    // MARK: Before the new file

    private static func isThere(_ file: SQLiteFile) -> Bool {
        ["ATRANSACTION", "ACHANGE"].allSatisfy { file.schema.entry(.table, named: $0) != nil }
    }

    /// The number of the newest transaction, 0 for a history without transactions; nil if there is no history.
    static func last(in file: SQLiteFile) throws -> Int64? {
        isThere(file) ? try file.table(named: "ATRANSACTION").greatestRowid() ?? 0 : nil
    }

    /// Counts the keys of deleted objects that the history names as given out.
    static func noteKeys(in file: SQLiteFile, _ layout: CoreDataLayout, _ numbers: inout ConversionNumbers) throws {
        let table = try file.table(named: "ACHANGE")
        guard let entity = table.index(ofColumn: "ZENTITY"), let key = table.index(ofColumn: "ZENTITYPK") else { return }
        var greatest: [Int64: Int64] = [:]
        try table.forEachRow { row in
            if let number = try row.integer(entity), layout.entities[number] != nil, let key = try row.integer(key), key <= CoreDataRows.keyMax {
                greatest[number] = max(greatest[number] ?? 0, key)
            }
            return true
        }
        for (number, key) in greatest {
            if let entity = layout.entities[number]?.entity, !entity.isAbstract { numbers.note(key, of: entity.name ?? "") }
        }
    }

    // MARK: Transactions

    /// - Parameter isKept: whether the history is written, or only counted.
    /// - Returns: nil if the file has no history.
    static func run(_ reader: CoreDataReader, _ target: ConversionTarget, isKept: Bool) throws -> ConversionReport.History? {
        guard isThere(reader.file) else { return nil }
        guard isKept else {
            func count(_ table: String) throws -> Int { try reader.file.table(named: table).rowCount() }
            return ConversionReport.History(transactions: try count("ATRANSACTION"), changes: try count("ACHANGE"), isKept: false)
        }
        var history = try ConvertedHistory(reader, target)
        try history.run()
        return history.history
    }

    private init(_ reader: CoreDataReader, _ target: ConversionTarget) throws {
        rows = try SQLiteHistoryRows(reader, target.schema)
        self.target = target
        changeRows = try ChangeRows(reader, rows)
        history = ConversionReport.History(isKept: true)
        for case let table? in target.schema.tables { preserved[table.id] = PreservedColumns(of: table) }
    }

    private mutating func run() throws {
        var cursor = try rows.transactions.rows(), pass = self
        let time = rows.transactions.index(ofColumn: "ZTIMESTAMP")
        try target.writeAll { transaction in
            guard try cursor.next() else { return nil }
            guard cursor.row.rowid > 0 else { return 0 }
            let changes = try pass.changes(of: cursor.row.rowid)
            pass.history.transactions += 1
            pass.history.changes += changes.count
            let timestamp = try time.flatMap { try cursor.row.real($0) } ?? 0
            let texts = try pass.rows.texts(of: cursor.row)
            return try pass.write(UInt64(cursor.row.rowid), timestamp, texts, changes, transaction)
        }
        self = pass
        if !falls.numbers.isEmpty { try writeFalls() }
    }

    private func writeFalls() throws {
        try target.write { transaction in
            guard let table = try HistoryTable(transaction.catalog) else { return }
            try transaction.setSystemValue(RecordLogSystemRow.historyFalls, falls.encoded(of: table.id))
        }
    }

    /// Returns the size of what was written.
    private mutating func write(
        _ number: UInt64, _ timestamp: Double, _ texts: HistoryTexts, _ changes: [Change], _ transaction: Transaction
    ) throws -> Int {
        guard let table = try HistoryTable(transaction.catalog) else { return 0 }
        let encoded = try encode(changes), builder = RowBuilder()
        let value = try encoded.withUnsafeBytes { try transaction.writeValue($0) }
        builder.begin(table.layout)
        builder.set(HistoryTable.Field.timestamp.rawValue, double: time(timestamp, number))
        func set(_ field: HistoryTable.Field, _ text: String?) { if let text { builder.set(field.rawValue, text: text) } }
        set(.author, texts.author)
        set(.contextName, texts.contextName)
        set(.processID, texts.processID)
        set(.bundleID, texts.bundleID)
        builder.set(HistoryTable.Field.changes.rawValue, value: value)
        let body = builder.unsafeBody()
        try transaction.put(RowReference(table: table.id, row: number), body: body)
        return encoded.count + body.count
    }

    private mutating func time(_ time: Double, _ number: UInt64) -> Double {
        if first == 0 { first = number }
        guard time <= lastTime else {
            lastTime = time
            return time
        }
        if lastTime - time <= HistoryFalls.tolerance {
            lastTime = lastTime.nextUp
            return lastTime
        }
        falls.note(number, first: first)
        lastTime = time
        return time
    }

    // MARK: Changes

    private struct Change {
        let type: NSPersistentHistoryChangeType
        let table: EntityTable
        let row: UInt64
        /// The indexes of an update's properties, ascending.
        var updated: [Int] = []
        /// The preserved values of a deletion.
        var body: [UInt8]?
    }

    /// The changes of a transaction, by table and row (1).
    private func changes(of transaction: Int64) throws -> [Change] {
        var found: [RowReference: Change] = [:]
        var cursor = try rows.changes.rows()
        for rowid in try changeRows.rows(of: transaction) {
            guard try cursor.find(rowid), let change = try rows.identify(cursor.row) else { continue }
            var new = Change(type: change.type, table: change.entity.table, row: change.reference.row)
            switch change.type {
            case .insert: break
            case .update:
                new.updated = try rows.updated(cursor.row, change.entity).sorted()
                if let old = found[change.reference] {
                    guard old.type == .update else { continue }
                    new.updated = Set(old.updated).union(new.updated).sorted()
                }
            case .delete: new.body = try tombstone(cursor.row, change.entity)
            }
            found[change.reference] = new
        }
        return found.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    private func tombstone(_ row: borrowing SQLiteRow, _ entity: SQLiteHistoryRows.ChangedEntity) throws -> [UInt8]? {
        guard let preserved = preserved[entity.table.id] else { return nil }
        let columns = Dictionary(zip(entity.columns.tombstones, rows.changeColumns.tombstones)) { first, _ in first }
        let properties = entity.table.runtime.properties
        var values: [Int: ManagedValue] = [:]
        for (property, column) in columns { values[property] = try properties[property].kind.sqlite.read(row, column) }
        return try preserved.body { values[$0] }.map { Array($0) }
    }

    private func encode(_ changes: [Change]) throws -> [UInt8] {
        var encoder = HistoryEncoder(), table: TableID?
        for change in changes {
            if change.table.id != table { encoder.begin(change.table.id) }
            table = change.table.id
            switch change.type {
            case .insert: encoder.add(.insertions, change.row)
            case .update: encoder.addUpdate(change.row, change.updated, of: change.table)
            case .delete:
                if let body = change.body, let columns = preserved[change.table.id]?.columns {
                    body.withUnsafeBytes { encoder.addDeletion(change.row, preserving: columns, $0) }
                } else {
                    encoder.add(.deletions, change.row)
                }
            }
        }
        encoder.endRun()
        return encoder.take()
    }
}

/// The rows of `ACHANGE` by transaction: by an index of the file, or else by a sorted list.
private struct ChangeRows {
    private let index: SQLiteIndex?
    private var list: [(transaction: Int64, rowid: Int64)] = []

    init(_ reader: CoreDataReader, _ rows: SQLiteHistoryRows) throws {
        index = try reader.index(beginningWith: "ZTRANSACTIONID", of: "ACHANGE")
        guard index == nil else { return }
        var list: [(transaction: Int64, rowid: Int64)] = []
        try rows.changes.forEachRow { row in
            if let transaction = try row.integer(rows.changeColumns.transaction) { list.append((transaction, row.rowid)) }
            return true
        }
        self.list = list.sorted { $0 < $1 }
    }

    func rows(of transaction: Int64) throws -> [Int64] {
        guard let index else { return listed(transaction) }
        var rows: [Int64] = []
        try index.forEachEntry(equalTo: [.integer(transaction)]) { entry in
            rows.append(entry.rowid)
            return true
        }
        return rows.sorted()
    }

    private func listed(_ transaction: Int64) -> [Int64] {
        var low = 0, high = list.count
        while low < high {
            let middle = (low + high) / 2
            if list[middle].transaction < transaction { low = middle + 1 } else { high = middle }
        }
        return list[low...].prefix { $0.transaction == transaction }.map(\.rowid)
    }
}
