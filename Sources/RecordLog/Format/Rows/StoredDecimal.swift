/// A decimal number as rows store it: a mantissa of up to 128 bits, a power of ten, a sign. One value may have several such forms;
/// its key has one.
public struct StoredDecimal: Hashable, Sendable {
    public var mantissa: UInt128
    public var exponent: Int16
    public var isNegative: Bool
    public var isNaN: Bool

    public init(mantissa: UInt128, exponent: Int16, isNegative: Bool, isNaN: Bool) {
        self.mantissa = mantissa
        self.exponent = exponent
        self.isNegative = isNegative
        self.isNaN = isNaN
    }

    static let zero = StoredDecimal(mantissa: 0, exponent: 0, isNegative: false, isNaN: false)

    static let size = 20
    private static let exponentOffset = 16, flagsOffset = 18

    init(reading pointer: UnsafeRawPointer) {
        let low = UInt64(littleEndian: pointer.loadUnaligned(as: UInt64.self))
        let high = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        mantissa = UInt128(high) << 64 | UInt128(low)
        exponent = Int16(littleEndian: pointer.loadUnaligned(fromByteOffset: Self.exponentOffset, as: Int16.self))
        let flags = pointer.load(fromByteOffset: Self.flagsOffset, as: UInt8.self)
        isNegative = flags & 1 != 0
        isNaN = flags & 2 != 0
    }

    func write(to pointer: UnsafeMutableRawPointer) {
        pointer.storeBytes(of: UInt64(truncatingIfNeeded: mantissa).littleEndian, as: UInt64.self)
        pointer.storeBytes(of: UInt64(truncatingIfNeeded: mantissa >> 64).littleEndian, toByteOffset: 8, as: UInt64.self)
        pointer.storeBytes(of: exponent.littleEndian, toByteOffset: Self.exponentOffset, as: Int16.self)
        pointer.storeBytes(of: (isNegative ? 1 : 0) | (isNaN ? 2 : 0), toByteOffset: Self.flagsOffset, as: UInt8.self)
        pointer.storeBytes(of: 0, toByteOffset: Self.flagsOffset + 1, as: UInt8.self)
    }

    /// Whether the bytes are a decimal that `write(to:)` can make: only the two flags, a zero reserved byte, and no digits in NaN.
    static func isWritten(_ pointer: UnsafeRawPointer) -> Bool {
        let flags = pointer.load(fromByteOffset: flagsOffset, as: UInt8.self)
        guard flags <= 3, pointer.load(fromByteOffset: flagsOffset + 1, as: UInt8.self) == 0 else { return false }
        guard flags & 2 != 0 else { return true }
        let value = StoredDecimal(reading: pointer)
        return value.mantissa == 0 && value.exponent == 0 && !value.isNegative
    }

    /// The mantissa's digits, most significant first, without trailing zeros; and the exponent of the first digit plus one
    /// (so 0.0123 has the digits 123 and the magnitude -1).
    var normalized: (digits: [UInt8], magnitude: Int) {
        var rest = mantissa
        var digits: [UInt8] = []
        while rest > 0 {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
            digits.append(UInt8(remainder))
            rest = quotient
        }
        digits.reverse()
        let magnitude = digits.count + Int(exponent)
        while digits.last == 0 { digits.removeLast() }
        return (digits, digits.isEmpty ? 0 : magnitude)
    }
}
