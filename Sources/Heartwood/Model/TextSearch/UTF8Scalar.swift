/// Reads and writes single scalars of UTF-8.
enum UTF8Scalar {
    /// Stands for a byte that begins no scalar.
    static let replacement: UInt32 = 0xFFFD

    /// Returns the scalar at an index and its number of bytes; the replacement and 1 for bytes that are no UTF-8.
    @inline(__always)
    static func decode(_ text: UnsafeRawBufferPointer, at index: Int) -> (value: UInt32, size: Int) {
        let first = UInt32(text[index])
        func next(_ offset: Int) -> UInt32? {
            guard index &+ offset < text.count, text[index &+ offset] & 0xC0 == 0x80 else { return nil }
            return UInt32(text[index &+ offset] & 0x3F)
        }
        if first < 0x80 { return (first, 1) }
        if first < 0xE0 {
            guard first >= 0xC2, let second = next(1) else { return (replacement, 1) }
            return ((first & 0x1F) << 6 | second, 2)
        }
        if first < 0xF0 {
            guard let second = next(1), let third = next(2) else { return (replacement, 1) }
            let value = (first & 0x0F) << 12 | second << 6 | third
            guard value >= 0x800, value & 0xF800 != 0xD800 else { return (replacement, 1) }
            return (value, 3)
        }
        guard first < 0xF5, let second = next(1), let third = next(2), let fourth = next(3) else { return (replacement, 1) }
        let value = (first & 0x07) << 18 | second << 12 | third << 6 | fourth
        guard value >= 0x10000, value < 0x110000 else { return (replacement, 1) }
        return (value, 4)
    }

    /// Writes a scalar.
    /// - Parameter bytes: has room for four bytes.
    /// - Returns: the number of bytes.
    @inline(__always)
    static func encode(_ value: UInt32, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        if value < 0x80 {
            bytes[0] = UInt8(value)
            return 1
        }
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift & 0x3F) | 0x80 }
        if value < 0x800 {
            bytes[0] = UInt8(truncatingIfNeeded: value >> 6) | 0xC0
            bytes[1] = tail(0)
            return 2
        }
        if value < 0x10000 {
            bytes[0] = UInt8(truncatingIfNeeded: value >> 12) | 0xE0
            bytes[1] = tail(6)
            bytes[2] = tail(0)
            return 3
        }
        bytes[0] = UInt8(truncatingIfNeeded: value >> 18) | 0xF0
        bytes[1] = tail(12)
        bytes[2] = tail(6)
        bytes[3] = tail(0)
        return 4
    }
}
