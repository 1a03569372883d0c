/// A value that a layout states for one of its columns. A row of an older layout has it where the row lacks the column or is null in it.
/// Immutable. Spec: FORMAT.md, "Defaults".
final class ColumnDefault: Sendable {
    let column: ColumnID
    let type: ColumnType
    /// The value as a row stores it.
    let bytes: [UInt8]
    /// The value's column in `row`.
    let access: ColumnAccess
    /// The body of a row of this one column, so that the code of rows reads the value.
    private nonisolated(unsafe) let body: UnsafeMutableRawPointer
    private let bodySize: Int

    /// The longest text or data. Each opening of the store reads every default.
    static let sizeMax = 1024

    /// - Returns: nil if no column of that type has such a value, or a row has to hold it: references, large values, long text and data.
    init?(column: ColumnID, type: ColumnType, bytes: [UInt8]) {
        guard Self.isValue(bytes, of: type) else { return nil }
        self.column = column
        self.type = type
        self.bytes = bytes
        let nullByte = RowLayout.nullsOffset, start = nullByte + 1, isFixed = type.slotSize != nil
        access = ColumnAccess(
            type: type, nullByte: nullByte, nullMask: 1, position: isFixed ? start : 0, variableCount: isFixed ? 0 : 1, variableTable: start)
        bodySize = start + bytes.count
        body = .allocate(byteCount: bodySize, alignment: 8)
        body.initializeMemory(as: UInt8.self, repeating: 0, count: start)
        (body + nullByte).storeBytes(of: 0xFE, as: UInt8.self)
        bytes.withUnsafeBytes { if let from = $0.baseAddress { (body + start).copyMemory(from: from, byteCount: $0.count) } }
    }

    deinit {
        body.deallocate()
    }

    /// The row that has the value. Valid as long as this object.
    var row: UnsafeRowView {
        UnsafeRowView(body: UnsafeRawPointer(body), byteCount: bodySize, reference: RowReference(rawValue: 0), version: 0)
    }

    private static func isValue(_ bytes: [UInt8], of type: ColumnType) -> Bool {
        if let size = type.slotSize { guard bytes.count == size else { return false } } else { guard bytes.count <= sizeMax else { return false } }
        switch type {
        case .value, .reference: return false
        case .bool: return bytes[0] <= 1
        case .text: return String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
        case .int16, .int32, .int64, .float, .double, .date, .uuid, .decimal, .bytes: return true
        }
    }
}

/// A column that rows of one layout lack, or in which they may be null, with the value that they have in place of null.
struct DefaultedColumn {
    /// The column in the row's own bytes; absent if the layout lacks it.
    let own: ColumnAccess
    let value: Unmanaged<ColumnDefault>

    /// The bytes that have the column of `row`: its own, or those of the default. Neither is null.
    func source(of row: UnsafeRowView) -> (row: UnsafeRowView, access: ColumnAccess) {
        if !own.isAbsent, !row.isNull(own) { return (row, own) }
        return value._withUnsafeGuaranteedRef { ($0.row, $0.access) }
    }
}

extension ColumnAccess {
    /// The access to a column with a default. Every reader takes its slow path: the code is no type's, and the null mask is empty.
    /// - Parameter column: must live as long as the access is used.
    init(_ column: UnsafePointer<DefaultedColumn>) {
        self.init(word: UInt64(UInt(bitPattern: column)))
    }

    /// The column behind an access with a default; nil for any other.
    @inline(__always)
    var defaulted: UnsafePointer<DefaultedColumn>? {
        typeCode == Self.defaultedCode ? UnsafePointer(bitPattern: UInt(truncatingIfNeeded: word)) : nil
    }

    /// The type of an access whose code is no type's.
    @inline(never)
    var typeOfDefault: ColumnType {
        defaulted?.pointee.value._withUnsafeGuaranteedRef(\.type) ?? .bytes
    }
}

/// The slow paths of the readers: the column is absent, of another type, or has a default.
extension UnsafeRowView {
    @inline(never) @usableFromInline
    func int64(otherwise access: ColumnAccess) -> Int64 {
        guard let column = access.defaulted?.pointee else { return 0 }
        let (row, access) = column.source(of: self)
        return row.int64(access)
    }

    @inline(never) @usableFromInline
    func double(otherwise access: ColumnAccess) -> Double {
        guard let column = access.defaulted?.pointee else { return 0 }
        let (row, access) = column.source(of: self)
        return row.double(access)
    }

    @inline(never) @usableFromInline
    func uuid(otherwise access: ColumnAccess) -> (UInt64, UInt64) {
        guard let column = access.defaulted?.pointee else { return (0, 0) }
        let (row, access) = column.source(of: self)
        return row.uuid(access)
    }

    @inline(never)
    func decimal(otherwise access: ColumnAccess) -> StoredDecimal {
        guard let column = access.defaulted?.pointee else { return StoredDecimal.zero }
        let (row, access) = column.source(of: self)
        return row.decimal(access)
    }

    @inline(never) @usableFromInline
    func bytes(otherwise access: ColumnAccess) -> UnsafeRawBufferPointer {
        guard let column = access.defaulted?.pointee else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let (row, access) = column.source(of: self)
        return row.bytes(access)
    }

    /// The bytes of a column of fixed size, which is not null.
    @inline(__always)
    func slot(_ access: ColumnAccess) -> UnsafeRawPointer {
        guard let column = access.defaulted?.pointee else { return body + Int(access.position) }
        let (row, access) = column.source(of: self)
        return row.body + Int(access.position)
    }
}
