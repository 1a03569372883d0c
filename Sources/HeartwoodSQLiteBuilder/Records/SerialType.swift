/// The numbers that name the values of a record. Source: SQLite, "Database File Format", 2.1.
enum SerialType {
    static let null: UInt64 = 0
    static let real: UInt64 = 7

    @inline(__always)
    static func size(_ serial: UInt64) -> Int {
        // Sizes of the types 0 to 11, a nibble each.
        serial < 12 ? Int(truncatingIfNeeded: (0x0000_0000_8864_3210 >> (serial * 4)) & 15) : Int(truncatingIfNeeded: (serial - 12) >> 1)
    }

    static func text(_ count: Int) -> UInt64 { UInt64(count) * 2 + 13 }
    static func blob(_ count: Int) -> UInt64 { UInt64(count) * 2 + 12 }

    /// The smallest type of an integer.
    @inline(__always)
    static func integer(_ value: Int64) -> UInt64 {
        if value == 0 { return 8 }
        if value == 1 { return 9 }
        switch value < 0 ? ~value : value {
        case ...0x7f: return 1
        case ...0x7fff: return 2
        case ...0x7f_ffff: return 3
        case ...0x7fff_ffff: return 4
        case ...0x7fff_ffff_ffff: return 5
        default: return 6
        }
    }

    /// Writes eight bytes. The type's size says how many of them count.
    @inline(__always)
    static func write(_ value: Int64, size: Int, to bytes: UnsafeMutableRawPointer) {
        guard size > 0 else { return }
        bytes.storeBytes(of: (UInt64(bitPattern: value) << UInt64(64 - 8 * size)).bigEndian, as: UInt64.self)
    }

    /// The integer of a type from 1 to 6, 8 or 9.
    @inline(__always)
    static func readInteger(_ serial: UInt64, _ bytes: UnsafeRawPointer) -> Int64 {
        if serial >= 8 { return Int64(serial) - 8 }
        let size = size(serial)
        var value = Int64(bytes.load(as: Int8.self))
        for index in 1..<max(1, size) { value = value << 8 | Int64(bytes.load(fromByteOffset: index, as: UInt8.self)) }
        return value
    }

    @inline(__always)
    static func readReal(_ bytes: UnsafeRawPointer) -> Double { Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))) }
}
