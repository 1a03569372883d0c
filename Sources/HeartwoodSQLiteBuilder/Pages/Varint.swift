/// SQLite's numbers of one to nine bytes. Source: "Database File Format", 1.6.
enum Varint {
    static let sizeMax = 9

    @inline(__always)
    static func size(_ value: UInt64) -> Int {
        if value < 0x80 { return 1 }
        if value >= 1 << 56 { return 9 }
        return (64 - value.leadingZeroBitCount + 6) / 7
    }

    /// - Returns: the size.
    @inline(__always)
    static func write(_ value: UInt64, to bytes: UnsafeMutableRawPointer) -> Int {
        if value < 0x80 {
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            return 1
        }
        return writeLong(value, to: bytes)
    }

    @inline(never)
    private static func writeLong(_ value: UInt64, to bytes: UnsafeMutableRawPointer) -> Int {
        let size = size(value)
        var rest = value
        if size == 9 {
            // The last of nine bytes has eight bits of the number.
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: 8, as: UInt8.self)
            rest >>= 8
        }
        for index in stride(from: min(size, 8) - 1, through: 0, by: -1) {
            let isLast = index == size - 1
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: rest & 0x7f) | (isLast ? 0 : 0x80), toByteOffset: index, as: UInt8.self)
            rest >>= 7
        }
        return size
    }

    @inline(__always)
    static func read(_ bytes: UnsafeRawPointer) -> (value: UInt64, size: Int) {
        let first = bytes.load(as: UInt8.self)
        if first < 0x80 { return (UInt64(first), 1) }
        return readLong(bytes)
    }

    @inline(never)
    private static func readLong(_ bytes: UnsafeRawPointer) -> (value: UInt64, size: Int) {
        var value: UInt64 = 0
        for index in 0..<8 {
            let byte = bytes.load(fromByteOffset: index, as: UInt8.self)
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return (value, index + 1) }
        }
        return (value << 8 | UInt64(bytes.load(fromByteOffset: 8, as: UInt8.self)), 9)
    }
}
