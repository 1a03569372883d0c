/// What stands before each row's body in a frame. Spec: FORMAT.md, "Row records".
struct RowRecord {
    enum Operation: UInt8 {
        case put = 1
        case delete = 2
    }

    let operation: Operation
    let bodyLength: Int
    let reference: RowReference
    /// From the record back to its frame's first byte.
    let distance: Int
    let version: UInt32
    /// The offset of the same row's record before this one; 0 for an insertion.
    let previous: UInt64

    enum Layout {
        static let bodyLength = 0
        static let table = 4
        static let operation = 6
        static let rowAndDistance = 8
        static let version = 16
        static let previous = 20
        static let size = 28
    }

    static let alignment = 4
    /// Rows start within this many bytes of their frame, so that the distance fits 16 bits.
    static let frameTarget = 64 * 1024

    static func size(ofBody count: Int) -> Int {
        (Layout.size + count + alignment - 1) & ~(alignment - 1)
    }

    /// Reads a record.
    /// - Parameter limit: the bytes that are there.
    @inline(__always)
    init?(_ pointer: UnsafeRawPointer, limit: Int) {
        guard limit >= Layout.size, let operation = Operation(rawValue: pointer.load(fromByteOffset: Layout.operation, as: UInt8.self))
        else { return nil }
        self.operation = operation
        bodyLength = Int(UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.bodyLength, as: UInt32.self)))
        guard bodyLength <= limit &- Layout.size else { return nil }
        let table = UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.table, as: UInt16.self))
        let word = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.rowAndDistance, as: UInt64.self))
        reference = RowReference(table: TableID(rawValue: table), row: word & RowReference.rowMask)
        distance = Int(word >> 48) &* Self.alignment
        version = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.version, as: UInt32.self))
        previous = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.previous, as: UInt64.self))
    }

    @inline(__always)
    static func write(
        to pointer: UnsafeMutableRawPointer, _ operation: Operation, _ reference: RowReference, bodyLength: Int, distance: Int,
        version: UInt32, previous: UInt64
    ) {
        pointer.storeBytes(of: UInt32(bodyLength).littleEndian, toByteOffset: Layout.bodyLength, as: UInt32.self)
        pointer.storeBytes(of: reference.table.rawValue.littleEndian, toByteOffset: Layout.table, as: UInt16.self)
        pointer.storeBytes(of: UInt16(operation.rawValue).littleEndian, toByteOffset: Layout.operation, as: UInt16.self)
        let word = reference.row | UInt64(distance / alignment) << 48
        pointer.storeBytes(of: word.littleEndian, toByteOffset: Layout.rowAndDistance, as: UInt64.self)
        pointer.storeBytes(of: version.littleEndian, toByteOffset: Layout.version, as: UInt32.self)
        pointer.storeBytes(of: previous.littleEndian, toByteOffset: Layout.previous, as: UInt64.self)
    }
}
