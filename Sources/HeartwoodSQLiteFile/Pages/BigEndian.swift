extension UnsafeRawPointer {
    /// A big-endian 16-bit number.
    @inline(__always) func half(_ offset: Int) -> Int { Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))) }
    /// A big-endian 32-bit number.
    @inline(__always) func word(_ offset: Int) -> UInt32 { UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    @inline(__always) func byte(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
}

/// SQLite's numbers of one to nine bytes. Source: "Database File Format", 1.6.
enum Varint {
    static let sizeMax = 9

    /// The caller guarantees nine readable bytes.
    /// - Returns: the value and its size in bytes.
    @inline(__always)
    static func read(_ bytes: UnsafeRawPointer) -> (value: UInt64, size: Int) {
        let first = bytes.byte(0)
        if first < 0x80 { return (UInt64(first), 1) }
        let second = bytes.byte(1)
        if second < 0x80 { return (UInt64(first & 0x7f) << 7 | UInt64(second), 2) }
        return readLong(bytes)
    }

    @inline(never)
    private static func readLong(_ bytes: UnsafeRawPointer) -> (value: UInt64, size: Int) {
        var value: UInt64 = 0
        for index in 0..<8 {
            let byte = bytes.byte(index)
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return (value, index + 1) }
        }
        return (value << 8 | UInt64(bytes.byte(8)), 9)
    }
}
