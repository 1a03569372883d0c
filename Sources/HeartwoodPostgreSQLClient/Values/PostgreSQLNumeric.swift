/// A value of `numeric`: an integer of 128 bits times a power of ten, with a sign.
///
/// The server's form has digits of base 10,000 with the weight of the first. Source: `numeric_send` and `numeric_recv` in
/// src/backend/utils/adt/numeric.c of PostgreSQL.
package struct PostgreSQLNumeric: Hashable, Sendable {
    package var digits: UInt128
    package var exponent: Int
    package var isNegative: Bool
    package var isNaN: Bool

    package init(digits: UInt128, exponent: Int, isNegative: Bool = false, isNaN: Bool = false) {
        self.digits = digits
        self.exponent = exponent
        self.isNegative = isNegative
        self.isNaN = isNaN
    }

    package static let nan = PostgreSQLNumeric(digits: 0, exponent: 0, isNaN: true)

    private static let negativeSign: UInt16 = 0x4000
    private static let nanSign: UInt16 = 0xC000
    private static let tens: [UInt128] = [1, 10, 100, 1000, 10_000]
    /// The most digits of base 10,000 of 128 bits, whose first may begin anywhere in a digit.
    private static let groupsMax = 11

    /// Appends the value behind its length.
    func append(to out: inout [UInt8]) {
        let (groups, lowest) = groups
        out.appendBigEndian(Int32(8 + 2 * groups.count))
        out.appendBigEndian(Int16(groups.count))
        out.appendBigEndian(Int16(clamping: groups.isEmpty ? 0 : lowest + groups.count - 1))
        out.appendBigEndian(isNaN ? Self.nanSign : isNegative && !groups.isEmpty ? Self.negativeSign : 0)
        out.appendBigEndian(Int16(clamping: isNaN ? 0 : max(0, -exponent)))
        for group in groups { out.appendBigEndian(group) }
    }

    /// The digits of base 10,000, the first one first, and the power of 10,000 of the last.
    private var groups: (list: [UInt16], lowest: Int) {
        guard !isNaN else { return ([], 0) }
        var lowest = exponent >> 2
        let shift = exponent & 3
        var rest = digits, reversed: [UInt16] = []
        // The last digit of base 10,000 begins below the last decimal digit.
        let split = Self.tens[4 - shift]
        if rest != 0 { reversed.append(UInt16(rest % split * Self.tens[shift])) }
        rest /= split
        while rest != 0 {
            reversed.append(UInt16(rest % 10_000))
            rest /= 10_000
        }
        let zeros = reversed.prefix { $0 == 0 }.count
        reversed.removeFirst(zeros)
        lowest += zeros
        return (reversed.reversed(), lowest)
    }

    /// Reads the server's form.
    /// - Returns: nil if the bytes are none, and for infinities and values of more than 128 bits.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else { return nil }
        func word(_ index: Int) -> UInt16 { UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)) }
        let count = Int(Int16(bitPattern: word(0))), weight = Int(Int16(bitPattern: word(1))), sign = word(2)
        guard count >= 0, bytes.count == 8 + 2 * count else { return nil }
        if sign == Self.nanSign {
            self = .nan
            return
        }
        guard sign == 0 || sign == Self.negativeSign, count <= Self.groupsMax else { return nil }
        var digits: UInt128 = 0
        var exponent = (weight - count + 1) * 4
        for index in 0..<count {
            let group = word(4 + index)
            guard group < 10_000 else { return nil }
            var next = UInt128(group), factor: UInt128 = 10_000
            if index == count - 1 {
                // Decimal zeros behind the last digit take no bits.
                while next != 0, next % 10 == 0, factor > 10 {
                    next /= 10
                    factor /= 10
                    exponent += 1
                }
            }
            let (raised, isOver) = digits.multipliedReportingOverflow(by: factor)
            let (sum, isOverNow) = raised.addingReportingOverflow(next)
            guard !isOver, !isOverNow else { return nil }
            digits = sum
        }
        self.init(digits: digits, exponent: digits == 0 ? 0 : exponent, isNegative: sign == Self.negativeSign && digits != 0)
    }
}
