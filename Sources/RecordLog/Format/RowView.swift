/// One row's bytes where they lie in the mapped file. Valid as long as the snapshot's file is held.
///
/// Whoever makes a view has checked that the body is at least as long as its layout's minimum; variable columns are
/// checked at each read, and a malformed one reads as empty.
@frozen
public struct RowView {
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
        LayoutID(rawValue: UInt16(littleEndian: body.loadUnaligned(as: UInt16.self)))
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
            return 0
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
            return 0
        }
    }

    /// The 16 bytes of a UUID column, in memory order, as two words.
    @inlinable
    public func uuid(_ access: ColumnAccess) -> (UInt64, UInt64) {
        guard access.typeCode == ColumnType.uuid.rawValue else { return (0, 0) }
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
        guard access.typeCode == ColumnType.decimal.rawValue else { return StoredDecimal.zero }
        return StoredDecimal(reading: body + Int(access.position))
    }

    /// The bytes of a text or bytes column.
    @inlinable
    public func bytes(_ access: ColumnAccess) -> UnsafeRawBufferPointer {
        guard access.typeCode >= ColumnType.text.rawValue else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let table = Int(access.variableTable), count = Int(access.variableCount), index = Int(access.position)
        let isWide = body.load(fromByteOffset: 2, as: UInt8.self) & 1 != 0
        let start: Int, end: Int, base: Int
        if isWide {
            base = table &+ count &* 4
            guard base <= byteCount else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            start = index == 0 ? 0 : Int(UInt32(littleEndian: body.loadUnaligned(fromByteOffset: table &+ index &* 4 &- 4, as: UInt32.self)))
            end = Int(UInt32(littleEndian: body.loadUnaligned(fromByteOffset: table &+ index &* 4, as: UInt32.self)))
        } else {
            base = table &+ count &* 2
            guard base <= byteCount else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            start = index == 0 ? 0 : Int(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: table &+ index &* 2 &- 2, as: UInt16.self)))
            end = Int(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: table &+ index &* 2, as: UInt16.self)))
        }
        guard start <= end, end <= byteCount &- base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: body + (base &+ start), count: end &- start)
    }
}
