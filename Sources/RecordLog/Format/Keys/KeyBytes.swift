import HeartwoodPlatform

/// Compares the bytes of keys.
package enum KeyBytes {
    /// The first eight bytes, big-endian; missing ones are zero.
    @inline(__always)
    package static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var prefix: UInt64 = 0
        for byte in bytes { prefix = prefix << 8 | UInt64(byte) }
        return bytes.isEmpty ? 0 : prefix << UInt64(8 * (8 - bytes.count))
    }

    /// Orders like memcmp; a prefix sorts before a longer key.
    @inline(__always)
    package static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let count = min(a.count, b.count)
        if count >= 8 {
            let first = UInt64(bigEndian: a.loadUnaligned(as: UInt64.self)), second = UInt64(bigEndian: b.loadUnaligned(as: UInt64.self))
            if first != second { return first < second ? -1 : 1 }
        }
        if count > 0 {
            let order = memcmp(a.baseAddress!, b.baseAddress!, count)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    /// The length of the common prefix.
    @inline(__always)
    static func shared(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let most = min(a.count, b.count)
        var count = 0
        while count &+ 8 <= most {
            let difference = UInt64(littleEndian: a.loadUnaligned(fromByteOffset: count, as: UInt64.self))
                ^ UInt64(littleEndian: b.loadUnaligned(fromByteOffset: count, as: UInt64.self))
            if difference != 0 { return count &+ difference.trailingZeroBitCount / 8 }
            count &+= 8
        }
        while count < most, a[count] == b[count] { count &+= 1 }
        return count
    }

    /// Whether two ranges of `count` bytes are equal.
    @inline(__always)
    static func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool { memcmp(a, b, count) == 0 }
}
