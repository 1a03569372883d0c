import Foundation
import RecordLog
internal import SQLiteFile

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
        .init(table: 0, number: newestNumber, time: bounds?.time ?? 0)
    }

    /// 0 if there is no transaction, or only some with numbers that Core Data does not give.
    private var newestNumber: Int64 { max(0, bounds?.last ?? 0) }

    func selection(_ times: HistorySelection.Times) throws -> HistorySelection { HistorySelection([1..<UInt64.max], times) }

    func number(of position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        guard position.table == 0, position.number >= 0, position.number <= newestNumber else {
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
        let records = try file.read { try SQLiteHistoryRows($0, schema, source).records(selection) }
        for record in records { guard try body(record) else { return } }
    }
}

/// Reads the rows of Core Data's history in one state of the file.
private struct SQLiteHistoryRows {
    private let reader: CoreDataReader
    private let schema: RecordLogSchema
    private let source: HistorySource
    private let transactions: SQLiteTable
    private let changes: SQLiteTable
    private let changeColumns: ChangeColumns
    private let strings: [Int64: String]
    /// By entity number.
    private let entities: [Int64: ChangedEntity]

    private struct ChangeColumns {
        let type, entity, key, transaction: Int
        let updated: Int?
        let tombstones: [Int]
    }

    private struct ChangedEntity {
        let table: EntityTable
        let columns: CoreDataHistoryColumns
    }

    init(_ reader: CoreDataReader, _ schema: RecordLogSchema, _ source: HistorySource) throws {
        self.reader = reader
        self.schema = schema
        self.source = source
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

    func records(_ selection: HistorySelection) throws -> [HistoryRecord] {
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

    private func texts(of row: borrowing SQLiteRow) throws -> HistoryTexts {
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

    /// - Returns: nil for an entity that the model lacks.
    private func change(_ row: borrowing SQLiteRow) throws -> HistoryChange? {
        guard let number = try row.integer(changeColumns.entity), let entity = entities[number] else { return nil }
        guard let type = try row.integer(changeColumns.type).flatMap({ NSPersistentHistoryChangeType(rawValue: Int(clamping: $0)) }),
            let key = try row.integer(changeColumns.key), key > 0, key <= CoreDataRows.keyMax
        else { throw CoreDataFileError.damaged(reader.file.path, "the row \(row.rowid) of ACHANGE has no type of change, or no key") }
        let runtime = entity.table.runtime
        var updated: Set<NSPropertyDescription> = []
        if type == .update, let column = changeColumns.updated, let bits = try row.blob(column) {
            for index in entity.columns.properties(in: bits) { updated.insert(runtime.entity.propertiesByIndex[runtime.declaredIndex(index)]) }
        }
        return HistoryChange(
            ordinal: row.rowid, type: type, reference: RowReference(table: entity.table.id, row: UInt64(key)), entity: runtime.entity,
            updatedProperties: updated, tombstone: type == .delete ? try tombstone(row, entity) : nil)
    }

    private func tombstone(_ row: borrowing SQLiteRow, _ entity: ChangedEntity) throws -> [AnyHashable: Any]? {
        var values: [AnyHashable: Any] = [:]
        for (column, index) in zip(changeColumns.tombstones, entity.columns.tombstones) {
            let property = entity.table.runtime.entity.propertiesByIndex[index], kind = entity.table.runtime.properties[index].kind
            guard let value = try value(row, column, kind) else { continue }
            values[property.name] = AttributeCoding.object(value, property: property, kind: kind)
        }
        return values.isEmpty ? nil : values
    }

    /// - Returns: nil for null, and for a value of another type: after a migration a column may be another attribute's.
    private func value(_ row: borrowing SQLiteRow, _ column: Int, _ kind: PropertyKind) throws -> ManagedValue? {
        switch kind {
        case .bool: return try row.integer(column).map { .bool($0 != 0) }
        case .int16, .int32, .int64: return try row.integer(column).map(ManagedValue.integer)
        case .float, .double: return try row.real(column).map(ManagedValue.double)
        case .date: return try row.real(column).map(ManagedValue.date)
        case .decimal:
            let text = try row.real(column).map { "\($0)" } ?? row.string(column)
            return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }.map { .decimal(NSDecimalNumber(decimal: $0)) }
        case .string: return try row.string(column).map(ManagedValue.text)
        case .uri: return try row.string(column).flatMap { URL(string: $0) }.map(ManagedValue.url)
        case .data, .externalData, .transformable: return try row.blob(column).map { .data(Data($0)) }
        case .uuid:
            guard let bytes = try row.blob(column), bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case .objectID, .undefined, .toOne, .toMany: return nil
        }
    }
}
