/// One row's bytes in the mapped file. Valid as long as the snapshot's file is held.
///
/// The creator of a view must check that the body has at least its layout's minimum size. Each read of a variable column is
/// checked; a malformed column reads as empty.
@frozen
public struct UnsafeRowView {
    public let body: UnsafeRawPointer
    public let byteCount: Int
    public let reference: RowReference
    /// 1 when inserted, one more at each update.
    public let version: UInt32

    @inlinable
    public init(body: UnsafeRawPointer, byteCount: Int, reference: RowReference, version: UInt32) {
        self.body = body
        self.byteCount = byteCount
        self.reference = reference
        self.version = version
    }

    @inlinable @inline(__always)
    public var layoutID: LayoutID {
        LayoutID(rawValue: UInt16(littleEndian: body.loadUnaligned(as: UInt16.self)) & 0x3FFF)
    }

    @inlinable @inline(__always)
    public func isNull(_ access: ColumnAccess) -> Bool {
        body.load(fromByteOffset: Int(access.nullByte), as: UInt8.self) & access.nullMask != 0
    }

    /// An integer column of any width, or a boolean as 0 or 1.
    @inlinable @inline(__always)
    public func int64(_ access: ColumnAccess) -> Int64 {
        let offset = Int(access.position)
        switch access.typeCode {
        case ColumnType.int64.rawValue:
            return Int64(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: Int64.self))
        case ColumnType.int32.rawValue:
            return Int64(Int32(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        case ColumnType.int16.rawValue:
            return Int64(Int16(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: Int16.self)))
        case ColumnType.bool.rawValue:
            return body.load(fromByteOffset: offset, as: UInt8.self) == 0 ? 0 : 1
        default:
            return int64(otherwise: access)
        }
    }

    /// A float, double or date column.
    @inlinable @inline(__always)
    public func double(_ access: ColumnAccess) -> Double {
        let offset = Int(access.position)
        switch access.typeCode {
        case ColumnType.double.rawValue, ColumnType.date.rawValue:
            return Double(bitPattern: UInt64(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        case ColumnType.float.rawValue:
            return Double(Float(bitPattern: UInt32(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: UInt32.self))))
        default:
            return double(otherwise: access)
        }
    }

    /// The 16 bytes of a UUID column, in memory order, as two words.
    @inlinable
    public func uuid(_ access: ColumnAccess) -> (UInt64, UInt64) {
        guard access.typeCode == ColumnType.uuid.rawValue else { return uuid(otherwise: access) }
        let offset = Int(access.position)
        return (
            body.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
            body.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
        )
    }

    @inlinable @inline(__always)
    public func reference(_ access: ColumnAccess) -> RowReference {
        guard access.typeCode == ColumnType.reference.rawValue else { return RowReference(rawValue: 0) }
        return RowReference(
            rawValue: UInt64(littleEndian: body.loadUnaligned(fromByteOffset: Int(access.position), as: UInt64.self)))
    }

    public func decimal(_ access: ColumnAccess) -> StoredDecimal {
        guard access.typeCode == ColumnType.decimal.rawValue else { return decimal(otherwise: access) }
        return StoredDecimal(reading: body + Int(access.position))
    }

    /// The bytes of a text or bytes column; for a value column, the bytes that the row stores. Those of a default are the layout's: they live
    /// as long as the catalog.
    @inlinable @inline(__always)
    public func bytes(_ access: ColumnAccess) -> UnsafeRawBufferPointer {
        guard access.typeCode >= ColumnType.text.rawValue else { return bytes(otherwise: access) }
        let table = Int(access.variableTable), last = Int(access.variableCount) &- 1, index = Int(access.position)
        let shift = Int(body.load(fromByteOffset: 1, as: UInt8.self) >> 6)
        let base = table &+ last << shift
        guard base <= byteCount else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let start = index == 0 ? 0 : endOffset(table, index &- 1, shift)
        let end = index == last ? byteCount &- base : endOffset(table, index, shift)
        guard start <= end, end <= byteCount &- base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: body + (base &+ start), count: end &- start)
    }

    @inlinable @inline(__always)
    func endOffset(_ table: Int, _ index: Int, _ shift: Int) -> Int {
        switch shift {
        case 0: Int(body.load(fromByteOffset: table &+ index, as: UInt8.self))
        case 1: Int(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: table &+ index &* 2, as: UInt16.self)))
        default: Int(UInt32(littleEndian: body.loadUnaligned(fromByteOffset: table &+ index &* 4, as: UInt32.self)))
        }
    }
}
