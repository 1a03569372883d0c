/// The header of each row's body in a frame. Spec: FORMAT.md, "Row records".
struct RowRecord {
    enum Operation: UInt8 {
        case put = 1
        case delete = 2
    }

    let operation: Operation
    let bodyLength: Int
    let reference: RowReference
    /// The distance from the frame's first byte to the record.
    let distance: Int
    /// The distance from the record's first byte to its body.
    let bodyOffset: Int
    let version: UInt32
    /// The address of the same row's previous record; 0 for an insertion.
    let previous: UInt64

    enum Layout {
        /// Body length, operation, and two bits: whether a version and a previous address follow.
        static let word = 0
        static let table = 4
        static let distance = 6
        static let row = 8
        static let size = 14
        /// They follow the row, unless they are 1 and 0: as in every row that was inserted and never changed.
        static let versionSize = 4
        static let previousSize = 8

        static let bodyLengthMask: UInt32 = 0x0FFF_FFFF
        static let operationShift: UInt32 = 28
        static let hasVersionShift: UInt32 = 30
        static let hasPreviousShift: UInt32 = 31
    }

    /// Rows start within this many bytes of their frame's start: so the distance fits 16 bits, and a row's first touch verifies little.
    static let frameTarget = 4 * 1024
    static let bodyLengthMax = Int(Layout.bodyLengthMask)

    @inline(__always)
    static func size(ofBody count: Int, version: UInt32 = 1, previous: UInt64 = 0) -> Int {
        Layout.size &+ count &+ (version == 1 ? 0 : Layout.versionSize) &+ (previous == 0 ? 0 : Layout.previousSize)
    }

    /// The size of the record with its body.
    var size: Int { bodyOffset &+ bodyLength }

    /// Reads a record.
    /// - Parameter limit: the bytes that are available.
    @inline(__always)
    init?(_ pointer: UnsafeRawPointer, limit: Int) {
        guard limit >= Layout.size else { return nil }
        let word = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.word, as: UInt32.self))
        guard let operation = Operation(rawValue: UInt8(truncatingIfNeeded: word >> Layout.operationShift & 3)) else { return nil }
        self.operation = operation
        bodyLength = Int(word & Layout.bodyLengthMask)
        let hasVersion = Int(word >> Layout.hasVersionShift & 1), hasPrevious = Int(word >> Layout.hasPreviousShift)
        bodyOffset = Layout.size &+ hasVersion &* Layout.versionSize &+ hasPrevious &* Layout.previousSize
        guard bodyLength <= limit &- bodyOffset else { return nil }
        let table = UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.table, as: UInt16.self))
        let low = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.row, as: UInt32.self))
        let high = UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.row &+ 4, as: UInt16.self))
        reference = RowReference(table: TableID(rawValue: table), row: UInt64(low) | UInt64(high) << 32)
        distance = Self.distance(pointer)
        version = hasVersion == 0 ? 1 : UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.size, as: UInt32.self))
        previous = hasPrevious == 0
            ? 0
            : UInt64(littleEndian: pointer.loadUnaligned(
                fromByteOffset: Layout.size &+ hasVersion &* Layout.versionSize, as: UInt64.self))
    }

    /// The distance from the frame's first byte to the record.
    /// - Precondition: the record has at least `Layout.size` bytes.
    @inline(__always)
    static func distance(_ pointer: UnsafeRawPointer) -> Int {
        Int(UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.distance, as: UInt16.self)))
    }

    /// The body length of a row that was inserted and never changed, as most rows are. It takes three loads.
    /// - Parameters:
    ///   - limit: the bytes that are available.
    ///   - distance: from the frame's first byte to the record.
    /// - Returns: nil if the record has another form, is of another row, or is malformed; use `init` then.
    @inline(__always)
    static func insertedBody(_ pointer: UnsafeRawPointer, limit: Int, _ reference: RowReference, distance: Int) -> Int? {
        guard limit >= Layout.size else { return nil }
        let word = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.word, as: UInt32.self))
        let length = Int(word & Layout.bodyLengthMask)
        // The word's highest bits are clear: neither version nor previous address follows.
        guard word >> Layout.operationShift == UInt32(Operation.put.rawValue), length <= limit &- Layout.size else { return nil }
        let middle = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.table, as: UInt64.self))
        let last = UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.row &+ 4, as: UInt16.self))
        let row = reference.row
        guard middle == UInt64(reference.table.rawValue) | UInt64(truncatingIfNeeded: distance) << 16 | row << 32,
            last == UInt16(truncatingIfNeeded: row >> 32)
        else { return nil }
        return length
    }

    /// Writes a record's header.
    /// - Returns: the offset of the body from `pointer`.
    @inline(__always)
    static func write(
        to pointer: UnsafeMutableRawPointer, _ operation: Operation, _ reference: RowReference, bodyLength: Int, distance: Int,
        version: UInt32, previous: UInt64
    ) -> Int {
        let hasVersion: UInt32 = version == 1 ? 0 : 1, hasPrevious: UInt32 = previous == 0 ? 0 : 1
        let word = UInt32(bodyLength) | UInt32(operation.rawValue) << Layout.operationShift | hasVersion << Layout.hasVersionShift
            | hasPrevious << Layout.hasPreviousShift
        pointer.storeBytes(of: word.littleEndian, toByteOffset: Layout.word, as: UInt32.self)
        pointer.storeBytes(of: reference.table.rawValue.littleEndian, toByteOffset: Layout.table, as: UInt16.self)
        pointer.storeBytes(of: UInt16(distance).littleEndian, toByteOffset: Layout.distance, as: UInt16.self)
        pointer.storeBytes(of: UInt32(truncatingIfNeeded: reference.row).littleEndian, toByteOffset: Layout.row, as: UInt32.self)
        pointer.storeBytes(of: UInt16(truncatingIfNeeded: reference.row >> 32).littleEndian, toByteOffset: Layout.row &+ 4, as: UInt16.self)
        var at = Layout.size
        if hasVersion != 0 {
            pointer.storeBytes(of: version.littleEndian, toByteOffset: at, as: UInt32.self)
            at &+= Layout.versionSize
        }
        if hasPrevious != 0 {
            pointer.storeBytes(of: previous.littleEndian, toByteOffset: at, as: UInt64.self)
            at &+= Layout.previousSize
        }
        return at
    }
}
