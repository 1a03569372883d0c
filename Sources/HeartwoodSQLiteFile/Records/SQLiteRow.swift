/// The row, or the index entry, at which a cursor stands. Source: SQLite, "Database File Format", 2.1.
///
/// Columns are counted from 0 in the order of the table's definition. The bytes that an access returns are valid until the cursor moves.
/// An access reads the overflow pages if its column reaches into them, and so it can throw.
package struct SQLiteRow: ~Copyable {
    /// Of a table with rowids, or of its index; else 0.
    package internal(set) var rowid: Int64 = 0

    private struct Field {
        var serial: UInt64
        var offset: Int
        var size: Int
    }

    private let pages: PageStore
    private let shape: RecordShape
    /// The shape's, which owns them.
    private let columns: UnsafeMutableBufferPointer<RecordShape.Column>
    private let fields: UnsafeMutablePointer<Field>
    private let overflow = OverflowBuffer()
    private let whole: UnsafeMutablePointer<UnsafeRawPointer?>
    private var payload: Payload
    /// The fields that the record has, up to those of the shape.
    private(set) var fieldCount = 0

    init(pages: PageStore, shape: RecordShape) {
        self.pages = pages
        self.shape = shape
        columns = shape.columns
        fields = .allocate(capacity: max(1, shape.fieldCount))
        whole = .allocate(capacity: 1)
        whole.initialize(to: nil)
        payload = Payload(local: UnsafeRawPointer(fields), localCount: 0, count: 0, overflowPage: 0, page: 0)
    }

    deinit {
        fields.deallocate()
        whole.deallocate()
    }

    // MARK: Access

    package var columnCount: Int { columns.count }

    package func kind(_ column: Int) throws(SQLiteFileError) -> SQLiteValue.Kind {
        let source = columns[column]
        if source.isRowid { return .integer }
        guard source.field >= 0, source.field < fieldCount else { return try missing(column).kind }
        switch fields[source.field].serial {
        case 0: return .null
        case 7: return try number(source.field).isNaN ? .null : .real
        case 1...9: return source.isReal ? .real : .integer
        case let serial: return serial & 1 == 0 ? .blob : .text
        }
    }

    package func isNull(_ column: Int) throws(SQLiteFileError) -> Bool { try kind(column) == .null }

    /// - Returns: nil if the value is no integer.
    package func integer(_ column: Int) throws(SQLiteFileError) -> Int64? {
        let source = columns[column]
        if source.isRowid { return rowid }
        guard source.field >= 0, source.field < fieldCount else {
            if case .integer(let value) = try missing(column) { return value }
            return nil
        }
        let serial = fields[source.field].serial
        guard serial != 0, serial < 10, serial != 7, !source.isReal else { return nil }
        return try storedInteger(source.field)
    }

    /// - Returns: nil if the value is no number.
    package func real(_ column: Int) throws(SQLiteFileError) -> Double? {
        let source = columns[column]
        if source.isRowid { return Double(rowid) }
        guard source.field >= 0, source.field < fieldCount else {
            switch try missing(column) {
            case .integer(let value): return Double(value)
            case .real(let value): return value
            default: return nil
            }
        }
        let serial = fields[source.field].serial
        guard serial != 0, serial < 10 else { return nil }
        let value = try number(source.field)
        return value.isNaN ? nil : value
    }

    /// - Returns: the bytes in the database's encoding; nil if the value is no text.
    package func text(_ column: Int) throws(SQLiteFileError) -> UnsafeRawBufferPointer? { try stored(column, .text) }

    /// - Returns: nil if the value is no blob.
    package func blob(_ column: Int) throws(SQLiteFileError) -> UnsafeRawBufferPointer? { try stored(column, .blob) }

    /// - Returns: nil if the value is no text.
    package func string(_ column: Int) throws(SQLiteFileError) -> String? {
        try text(column).map { shape.encoding.string($0) }
    }

    /// The value on its own. Text and blobs are copied.
    package func value(_ column: Int) throws(SQLiteFileError) -> SQLiteValue {
        switch try kind(column) {
        case .null: return .null
        case .integer: return .integer(try integer(column) ?? 0)
        case .real: return .real(try real(column) ?? 0)
        case .text: return .text(try text(column).map(Array.init) ?? [])
        case .blob: return .blob(try blob(column).map(Array.init) ?? [])
        }
    }

    /// Whether the record is too short to have the column, which then has its default value.
    package func isMissing(_ column: Int) -> Bool {
        let source = columns[column]
        return !source.isRowid && (source.field < 0 || source.field >= fieldCount)
    }

    // MARK: Reading

    func beginScan() { overflow.beginScan() }

    /// Reads the record's header.
    @inline(__always)
    mutating func load(_ payload: Payload) throws(SQLiteFileError) {
        self.payload = payload
        whole.pointee = nil
        fieldCount = 0
        guard payload.count > 0 else { throw corrupt("a record has no header") }
        let (headerSize, start) = Varint.read(payload.local)
        guard headerSize >= UInt64(start), headerSize <= UInt64(payload.count) else { throw corrupt("a record's header is longer than the record") }
        var bytes = payload.local
        if headerSize > UInt64(payload.localCount) { bytes = try assemble() }
        try readHeader(bytes, start, Int(headerSize))
    }

    @inline(__always)
    private mutating func readHeader(_ bytes: UnsafeRawPointer, _ start: Int, _ end: Int) throws(SQLiteFileError) {
        var at = start, offset = end, count = 0
        while at < end, count < shape.fieldCount {
            let (serial, size) = Varint.read(bytes + at)
            at += size
            let length = Self.size(serial)
            guard length <= UInt64(payload.count - offset), serial &- 10 > 1 else { throw invalid(serial, offset) }
            fields[count] = Field(serial: serial, offset: offset, size: Int(length))
            offset += Int(length)
            count += 1
        }
        guard at <= end else { throw corrupt("a record's header ends inside of a number") }
        fieldCount = count
    }

    @inline(__always)
    private static func size(_ serial: UInt64) -> UInt64 {
        // Sizes of the serial types 0 to 11, a nibble each.
        serial < 12 ? (0x0000_0000_8864_3210 >> (serial * 4)) & 15 : (serial - 12) >> 1
    }

    @inline(never)
    private func invalid(_ serial: UInt64, _ offset: Int) -> SQLiteFileError {
        if serial == 10 || serial == 11 { return corrupt("a record has a value of the reserved type \(serial)") }
        return corrupt("a value of \(Self.size(serial)) bytes ends behind its record of \(payload.count) bytes, from byte \(offset) of it")
    }

    @inline(never)
    private func corrupt(_ message: String) -> SQLiteFileError {
        .corrupt(pages.path, page: payload.page, "\(message), in the row or entry \(rowid)")
    }

    @inline(never)
    private func missing(_ column: Int) throws(SQLiteFileError) -> SQLiteValue {
        if let value = shape.missing[column] { return value }
        let what = columns[column].field < 0 ? "is computed and not stored" : "has a default value that is an expression"
        throw SQLiteFileError(
            .unsupported, path: pages.path, page: payload.page, "column \(column) \(what)", remedy: "Read it with a program that uses SQLite.")
    }

    @inline(never)
    private func assemble() throws(SQLiteFileError) -> UnsafeRawPointer {
        let bytes = try overflow.assemble(payload, pages)
        whole.pointee = bytes
        return bytes
    }

    @inline(__always)
    private func bytes(_ field: Field) throws(SQLiteFileError) -> UnsafeRawPointer {
        if field.offset + field.size <= payload.localCount { return payload.local + field.offset }
        if let whole = whole.pointee { return whole + field.offset }
        return try assemble() + field.offset
    }

    private func stored(_ column: Int, _ kind: SQLiteValue.Kind) throws(SQLiteFileError) -> UnsafeRawBufferPointer? {
        let source = columns[column]
        if source.isRowid { return nil }
        guard source.field >= 0, source.field < fieldCount else { return try missing(column).kind == kind ? shape.missingBytes[column] : nil }
        let field = fields[source.field]
        guard field.serial >= 12, field.serial & 1 == (kind == .text ? 1 : 0) else { return nil }
        return UnsafeRawBufferPointer(start: try bytes(field), count: field.size)
    }

    private func storedInteger(_ index: Int) throws(SQLiteFileError) -> Int64 {
        let field = fields[index]
        if field.serial >= 8 { return Int64(field.serial) - 8 }
        let bytes = try bytes(field)
        switch field.size {
        case 1: return Int64(bytes.load(as: Int8.self))
        case 2: return Int64(Int16(truncatingIfNeeded: bytes.half(0)))
        case 3: return Int64(Int8(bitPattern: bytes.byte(0))) << 16 | Int64(bytes.half(1))
        case 4: return Int64(Int32(bitPattern: bytes.word(0)))
        case 6: return Int64(Int16(truncatingIfNeeded: bytes.half(0))) << 32 | Int64(bytes.word(2))
        default: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        }
    }

    private func number(_ index: Int) throws(SQLiteFileError) -> Double {
        let field = fields[index]
        guard field.serial == 7 else { return Double(try storedInteger(index)) }
        return Double(bitPattern: UInt64(bigEndian: try bytes(field).loadUnaligned(as: UInt64.self)))
    }
}

extension SQLiteRow {
    /// The integer of an index entry's last field.
    func storedRowid(field: Int) throws(SQLiteFileError) -> Int64 {
        guard field < fieldCount, let value = try integer(field) else { throw corrupt("an index entry has no rowid") }
        return value
    }
}
