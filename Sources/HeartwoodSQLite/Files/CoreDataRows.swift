import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Makes rows of the record log's form from the rows of one entity in Core Data's file.
///
/// (1) A value whose type the attribute does not admit is an error that names the row and the column. Numbers are taken as integers, reals and
///     decimal text, since SQLite stores whole reals as integers. Facts, "types". A longer integer is cut to the attribute's size, as in Core Data.
/// (2) The keys of a row are 1 to 2^47 - 1: object keys have no room for others.
final class CoreDataRows {
    /// One column of the record log's row, and its source in the file.
    fileprivate struct Column {
        let property: Int
        let position: Int
        let source: Int
        let kind: PropertyKind
        /// Whether a tag says where the data is. Facts, "external".
        let isTagged: Bool
        /// Of a to-one relationship: the column with the entity number, and the destination.
        let entitySource: Int?
        let destination: CoreDataDestination?
    }

    /// Some of the columns, for rows that are only tested.
    struct Selection {
        fileprivate let columns: [Column]
    }

    let number: Int64
    let source: SQLiteTable
    let table: EntityTable
    private let columns: [Column]
    private let entityColumn: Int
    private let versionColumn: Int
    private let encoding: DatabaseHeader.TextEncoding
    private let path: String
    private let builder = RowBuilder()
    private var finder: SQLiteTableCursor
    /// The record log that the rows are written to; nil where they are read in place.
    var transfer: CoreDataTransfer?
    var missingFiles: MissingValueFiles?

    static let keyMax = Int64(ObjectKey.temporaryBit) - 1

    init(
        _ layout: CoreDataLayout.Entity, _ table: EntityTable, _ file: SQLiteFile, destination: (NSEntityDescription) throws -> CoreDataDestination?
    ) throws {
        number = layout.number
        let source = try file.table(named: layout.table)
        self.source = source
        finder = try source.rows()
        self.table = table
        path = file.path
        encoding = file.header.encoding
        guard let entityColumn = source.index(ofColumn: "Z_ENT"), let versionColumn = source.index(ofColumn: "Z_OPT") else {
            throw CoreDataFileError.damaged(path, "the table \(layout.table) has no columns Z_ENT and Z_OPT")
        }
        self.entityColumn = entityColumn
        self.versionColumn = versionColumn
        columns = try table.positions.enumerated().compactMap { index, position in
            guard let position, let place = layout.places[index] else { return nil }
            return try Self.column(index, position, place, table, source, destination)
        }
    }

    private static func column(
        _ index: Int, _ position: Int, _ place: CoreDataLayout.Place, _ table: EntityTable, _ source: SQLiteTable,
        _ destination: (NSEntityDescription) throws -> CoreDataDestination?
    ) throws -> Column? {
        let kind = table.runtime.properties[index].kind, property = table.runtime.entity.propertiesByIndex[index]
        switch place {
        case .column(let name):
            let isTagged = (property as? NSAttributeDescription)?.allowsExternalBinaryDataStorage ?? false
            return source.index(ofColumn: name).map {
                Column(property: index, position: position, source: $0, kind: kind, isTagged: isTagged, entitySource: nil, destination: nil)
            }
        case .toOne(let name, let entity):
            guard let column = source.index(ofColumn: name), let found = try table.runtime.properties[index].destination.flatMap(destination) else {
                return nil
            }
            return Column(
                property: index, position: position, source: column, kind: kind, isTagged: false,
                entitySource: entity.flatMap { source.index(ofColumn: $0) },
                destination: found)
        case .inverse, .join: return nil
        }
    }

    // MARK: Rows

    /// Whether a row is of this entity: facts, traps, "Filter by Z_ENT".
    func holds(_ row: borrowing SQLiteRow) throws -> Bool { try row.integer(entityColumn) == number }

    func selection(_ properties: Set<Int>) -> Selection { Selection(columns: columns.filter { properties.contains($0.property) }) }

    /// - Returns: a row whose bytes are valid until the next call.
    func row(_ row: borrowing SQLiteRow) throws -> UnsafeRowView { try self.row(row, columns) }

    /// - Returns: a row that has null in the columns that are not among these. Its bytes are valid until the next call.
    private func row(_ row: borrowing SQLiteRow, _ columns: [Column]) throws -> UnsafeRowView {
        guard row.rowid > 0, row.rowid <= Self.keyMax else {
            throw CoreDataFileError.damaged(path, "\(source.name) has a row \(row.rowid), which is no primary key of Core Data's")
        }
        builder.begin(table.layout)
        for column in columns {
            let kind = try row.kind(column.source)
            guard kind != .null else { continue }
            if let destination = column.destination {
                try setReference(column, destination, row)
            } else {
                try set(column, kind, row)
            }
        }
        let body = builder.unsafeBody()
        // 0 stands for an object that was not read.
        let version = UInt32(truncatingIfNeeded: try row.integer(versionColumn) ?? 1)
        guard let start = body.baseAddress else { preconditionFailure("a row has its layout's number") }
        let reference = RowReference(table: table.id, row: UInt64(row.rowid))
        return UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: version == 0 ? .max : version)
    }

    /// Calls `body` with the row of a key, if it is of this entity; the row's bytes are valid until the next call.
    func find(_ key: Int64, _ body: (UnsafeRowView) throws -> Void) throws {
        guard try finder.find(key), try holds(finder.row) else { return }
        try body(try row(finder.row))
    }

    /// Calls `body` with each row of this entity, until it returns false.
    func forEach(_ body: (UnsafeRowView) throws -> Bool) throws {
        try source.forEachRow { row in try holds(row) ? body(try self.row(row)) : true }
    }

    /// Calls `body` with each row of this entity that meets `test`, until it returns false.
    /// - Parameters:
    ///   - selection: the columns that `test` reads; nil for all.
    ///   - givesWhole: whether `body` gets all columns, too.
    func forEach(
        _ selection: Selection?, givesWhole: Bool, where test: (UnsafeRowView) throws -> Bool, _ body: (UnsafeRowView) throws -> Bool
    ) throws {
        let tested = selection?.columns ?? columns
        try source.forEachRow { row in
            guard try holds(row) else { return true }
            let part = try self.row(row, tested)
            guard try test(part) else { return true }
            return try body(selection == nil || !givesWhole ? part : try self.row(row, columns))
        }
    }

    func count() throws -> Int {
        var count = 0
        try source.forEachRow { row in
            if try holds(row) { count += 1 }
            return true
        }
        return count
    }

    private func setReference(_ column: Column, _ destination: CoreDataDestination, _ row: borrowing SQLiteRow) throws {
        guard let key = try row.integer(column.source) else { throw wrong(column, row, "no key") }
        // A key that no row can have leads nowhere.
        guard key > 0, key <= Self.keyMax else {
            transfer?.noteDangling(name(column, row), "row \(key) of \(destination.table.name)")
            return
        }
        if let transfer { return try transferReference(column, destination, key, row, transfer) }
        var found = destination.only
        if found == nil, let source = column.entitySource, let number = try row.integer(source) { found = destination.members[number] }
        guard let table = try found ?? destination.tableID(ofRow: key) else { return }
        builder.set(column.position, reference: RowReference(table: table, row: UInt64(key)))
    }

    private func transferReference(
        _ column: Column, _ destination: CoreDataDestination, _ key: Int64, _ row: borrowing SQLiteRow, _ transfer: CoreDataTransfer
    ) throws {
        guard let table = try destination.tableID(ofRow: key) else {
            return transfer.noteDangling(name(column, row), "row \(key) of \(destination.table.name)")
        }
        builder.set(column.position, reference: RowReference(table: table, row: UInt64(key)))
    }

    private func name(_ column: Column, _ row: borrowing SQLiteRow) -> String {
        "\(table.runtime.entity.name ?? "?") p\(row.rowid), \(table.layout.columns[column.position].name)"
    }

    private func set(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws {
        switch column.kind {
        case .bool: builder.set(column.position, bool: try number(column, kind, row) != 0)
        case .int16, .int32, .int64: builder.set(column.position, int64: try integer(column, kind, row))
        case .float, .double, .date: builder.set(column.position, double: try number(column, kind, row))
        case .decimal: builder.set(column.position, decimal: StoredDecimal(try decimal(column, kind, row)))
        case .string, .uri: try setText(column, kind, row)
        case .data, .transformable: try setBytes(column, kind, row)
        case .externalData: try setExternal(column, kind, row)
        case .uuid: builder.set(column.position, uuid: try uuid(column, kind, row).storedBytes)
        case .toOne, .toMany, .objectID, .undefined: break
        }
    }

    private func wrong(_ column: Column, _ row: borrowing SQLiteRow, _ message: String) -> NSError {
        CoreDataFileError.value(path, source.name, row: row.rowid, source.columns[column.source].name, message)
    }

    // MARK: Values

    private func integer(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws -> Int64 {
        if kind == .integer, let value = try row.integer(column.source) { return cut(value, column, row) }
        let number = try number(column, kind, row)
        guard let value = Int64(exactly: number.rounded(.towardZero)) else { throw wrong(column, row, "\(number), which is no integer") }
        if Double(value) != number { transfer?.noteChanged(name(column, row), "\(number) becomes \(value)") }
        return cut(value, column, row)
    }

    private func cut(_ value: Int64, _ column: Column, _ row: borrowing SQLiteRow) -> Int64 {
        let cut = switch column.kind {
        case .int16: Int64(Int16(truncatingIfNeeded: value))
        case .int32: Int64(Int32(truncatingIfNeeded: value))
        default: value
        }
        if cut != value { transfer?.noteChanged(name(column, row), "\(value) becomes \(cut)") }
        return cut
    }

    private func number(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws -> Double {
        if let number = try row.real(column.source) { return number }
        guard let text = try row.string(column.source), let number = Double(text) else {
            throw wrong(column, row, "\(Self.name(kind)) that is no number")
        }
        return number
    }

    /// A real's shortest decimal form is the one that was most probably stored.
    private func decimal(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws -> Decimal {
        if kind == .integer, let value = try row.integer(column.source) { return Decimal(value) }
        if kind == .real, let value = try row.real(column.source) {
            return Decimal(string: "\(value)", locale: Locale(identifier: "en_US_POSIX")) ?? .nan
        }
        guard let text = try row.string(column.source), let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
            throw wrong(column, row, "\(Self.name(kind)) that is no decimal number")
        }
        return value
    }

    private func setText(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws {
        switch kind {
        case .text:
            // Foundation has no URL without text, so it is null in predicates too.
            if column.kind == .uri, try row.text(column.source)?.isEmpty ?? true { return }
            // Most text is ASCII, and is copied as it is.
            if encoding == .utf8, let bytes = try row.text(column.source), Self.isASCII(bytes) {
                return builder.set(column.position, bytes: bytes)
            }
            let text = try row.string(column.source) ?? ""
            if let transfer, let bytes = try row.text(column.source), !encoding.bytes(text).elementsEqual(bytes) {
                transfer.noteChanged(name(column, row), "bytes that are no text become U+FFFD or are left out")
            }
            builder.set(column.position, text: text)
        case .integer: builder.set(column.position, text: String(try row.integer(column.source) ?? 0))
        case .real: builder.set(column.position, text: "\(try row.real(column.source) ?? 0)")
        default: throw wrong(column, row, "\(Self.name(kind)) where text belongs")
        }
    }

    /// Eight bytes at a time: this is done for each text of each row.
    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var high: UInt64 = 0, offset = 0
        while offset + 8 <= bytes.count {
            high |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        while offset < bytes.count {
            high |= UInt64(bytes[offset])
            offset += 1
        }
        return high & 0x8080_8080_8080_8080 == 0
    }

    private func bytes(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws -> UnsafeRawBufferPointer {
        if let bytes = try row.blob(column.source) ?? row.text(column.source) { return bytes }
        throw wrong(column, row, "a number where data belongs")
    }

    /// A transformable's value in a file of its own is read with its row: only binary data can wait until it is asked for.
    private func setBytes(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws {
        let bytes = try bytes(column, kind, row)
        guard column.isTagged else { return builder.set(column.position, bytes: bytes) }
        switch ExternalValue(bytes) {
        case .inline(let value)?: builder.set(column.position, bytes: value)
        case .file(let name)?:
            // The row's other values can be read, so this one is nil.
            guard ExternalValue.isThere(name, of: path) else {
                transfer?.noteMissing(self.name(column, row), name, of: path)
                missingFiles?.note(name, of: path)
                return
            }
            try ExternalValue.read(name, of: path).withUnsafeBytes { builder.set(column.position, bytes: $0) }
        case nil: throw wrong(column, row, "data without the tag that says where the value is")
        }
    }

    /// In place, the row has the column's bytes, and the value is looked up when it is asked for.
    private func setExternal(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws {
        let bytes = try bytes(column, kind, row)
        guard let transfer else { return builder.set(column.position, value: LargeValue(inRow: bytes)) }
        let value: LargeValue?
        switch ExternalValue(bytes) {
        case .inline(let bytes)?: value = try transfer.value(bytes)
        case .file(let name)?: value = try transfer.value(fileNamed: name, of: path, self.name(column, row))
        case nil: throw wrong(column, row, "data without the tag that says where the value is")
        }
        if let value { builder.set(column.position, value: value) }
    }

    private func uuid(_ column: Column, _ kind: SQLiteValue.Kind, _ row: borrowing SQLiteRow) throws -> UUID {
        if let bytes = try row.blob(column.source), bytes.count == 16 { return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
        if let text = try row.string(column.source), let uuid = UUID(uuidString: text) { return uuid }
        throw wrong(column, row, "\(Self.name(kind)) that is no UUID")
    }

    private static func name(_ kind: SQLiteValue.Kind) -> String {
        switch kind {
        case .null: "nothing"
        case .integer, .real: "a number"
        case .text: "text"
        case .blob: "data"
        }
    }
}
