import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Reads the rows of Core Data's history in one state of the file.
struct SQLiteHistoryRows {
    private let reader: CoreDataReader
    private let schema: RecordLogSchema
    let transactions: SQLiteTable
    let changes: SQLiteTable
    let changeColumns: ChangeColumns
    private let strings: [Int64: String]
    /// By entity number.
    let entities: [Int64: ChangedEntity]

    struct ChangeColumns {
        let type, entity, key, transaction: Int
        let updated: Int?
        let tombstones: [Int]
    }

    struct ChangedEntity {
        let table: EntityTable
        let columns: CoreDataHistoryColumns
    }

    init(_ reader: CoreDataReader, _ schema: RecordLogSchema) throws {
        self.reader = reader
        self.schema = schema
        transactions = try reader.file.table(named: "ATRANSACTION")
        changes = try reader.file.table(named: "ACHANGE")
        let table = changes, path = reader.file.path
        func column(_ name: String) throws -> Int {
            guard let index = table.index(ofColumn: name) else { throw CoreDataFileError.damaged(path, "the table ACHANGE has no column \(name)") }
            return index
        }
        var tombstones: [Int] = []
        while let index = table.index(ofColumn: "ZTOMBSTONE\(tombstones.count)") { tombstones.append(index) }
        changeColumns = ChangeColumns(
            type: try column("ZCHANGETYPE"), entity: try column("ZENTITY"), key: try column("ZENTITYPK"), transaction: try column("ZTRANSACTIONID"),
            updated: table.index(ofColumn: "ZCOLUMNS"), tombstones: tombstones)
        strings = try Self.strings(reader.file)
        var entities: [Int64: ChangedEntity] = [:]
        for (number, entity) in reader.layout.entities {
            guard let table = schema.tables.compactMap({ $0 }).first(where: { $0.runtime.entity === entity.entity }) else { continue }
            entities[number] = ChangedEntity(table: table, columns: CoreDataHistoryColumns(of: entity))
        }
        self.entities = entities
    }

    private static func strings(_ file: SQLiteFile) throws -> [Int64: String] {
        guard file.schema.entry(.table, named: "ATRANSACTIONSTRING") != nil else { return [:] }
        let table = try file.table(named: "ATRANSACTIONSTRING")
        guard let column = table.index(ofColumn: "ZNAME") else { return [:] }
        var texts: [Int64: String] = [:]
        try table.forEachRow { row in
            texts[row.rowid] = try row.string(column)
            return true
        }
        return texts
    }

    func records(_ selection: HistorySelection, _ source: HistorySource) throws -> [HistoryRecord] {
        var records: [HistoryRecord] = []
        let changes = try byTransaction(selection), time = transactions.index(ofColumn: "ZTIMESTAMP")
        for range in selection.ranges {
            try transactions.forEachRow(from: Int64(clamping: range.lowerBound)) { row in
                guard row.rowid > 0, UInt64(row.rowid) < range.upperBound else { return row.rowid <= 0 }
                // Behind the greatest number there is no row to begin from.
                guard UInt64(row.rowid) >= range.lowerBound else { return true }
                let timestamp = try time.flatMap { try row.real($0) } ?? 0
                guard selection.times.holds(for: timestamp) else { return true }
                records.append(HistoryRecord(row.rowid, timestamp, try texts(of: row), changes[row.rowid] ?? [], source))
                return true
            }
        }
        return records
    }

    func texts(of row: borrowing SQLiteRow) throws -> HistoryTexts {
        HistoryTexts(
            author: try text("ZAUTHOR", of: row), contextName: try text("ZCONTEXTNAME", of: row), processID: try text("ZPROCESSID", of: row),
            bundleID: try text("ZBUNDLEID", of: row))
    }

    private func text(_ name: String, of row: borrowing SQLiteRow) throws -> String? {
        if let column = transactions.index(ofColumn: name + "TS"), let key = try row.integer(column), let text = strings[key] { return text }
        guard let column = transactions.index(ofColumn: name) else { return nil }
        return try row.string(column)
    }

    // MARK: Changes

    private func byTransaction(_ selection: HistorySelection) throws -> [Int64: [HistoryChange]] {
        var result: [Int64: [HistoryChange]] = [:]
        try changes.forEachRow { row in
            let transaction = try row.integer(changeColumns.transaction) ?? 0
            guard transaction > 0, selection.holds(UInt64(transaction)), let found = try change(row) else { return true }
            result[transaction, default: []].append(found)
            return true
        }
        return result
    }

    /// A row of `ACHANGE`, before its properties and values are read.
    struct Change {
        let type: NSPersistentHistoryChangeType
        let entity: ChangedEntity
        let reference: RowReference
    }

    /// - Returns: nil for an entity that the model lacks.
    func identify(_ row: borrowing SQLiteRow) throws -> Change? {
        guard let number = try row.integer(changeColumns.entity), let entity = entities[number] else { return nil }
        guard let type = try row.integer(changeColumns.type).flatMap({ NSPersistentHistoryChangeType(rawValue: Int(clamping: $0)) }),
            let key = try row.integer(changeColumns.key), key > 0, key <= CoreDataRows.keyMax
        else { throw CoreDataFileError.damaged(reader.file.path, "the row \(row.rowid) of ACHANGE has no type of change, or no key") }
        return Change(type: type, entity: entity, reference: RowReference(table: entity.table.id, row: UInt64(key)))
    }

    /// The indexes of an update's properties; a composite's elements are named one by one.
    func updated(_ row: borrowing SQLiteRow, _ entity: ChangedEntity) throws -> [Int] {
        guard let column = changeColumns.updated, let bits = try row.blob(column) else { return [] }
        return entity.columns.properties(in: bits)
    }

    private func change(_ row: borrowing SQLiteRow) throws -> HistoryChange? {
        guard let found = try identify(row) else { return nil }
        let runtime = found.entity.table.runtime
        var updated: Set<NSPropertyDescription> = []
        if found.type == .update {
            for index in try self.updated(row, found.entity) { updated.insert(runtime.entity.propertiesByIndex[runtime.declaredIndex(index)]) }
        }
        return HistoryChange(
            ordinal: row.rowid, type: found.type, reference: found.reference, entity: runtime.entity, updatedProperties: updated,
            tombstone: found.type == .delete ? try tombstone(row, found.entity) : nil)
    }

    private func tombstone(_ row: borrowing SQLiteRow, _ entity: ChangedEntity) throws -> [AnyHashable: Any]? {
        var values: [AnyHashable: Any] = [:]
        for (column, index) in zip(changeColumns.tombstones, entity.columns.tombstones) {
            let property = entity.table.runtime.entity.propertiesByIndex[index], kind = entity.table.runtime.properties[index].kind
            // After a migration a column may be another attribute's.
            guard let value = try kind.sqlite.read(row, column) else { continue }
            values[property.name] = AttributeCoding.object(value, property: property, kind: kind)
        }
        return values.isEmpty ? nil : values
    }
}
