import Foundation

/// A number with the decimal digits of its text, so that no binary type stands between a file and the attribute.
struct DecimalDigits {
    private(set) var isNegative = false
    /// Digits from 0 to 9, without zeros at either end; empty for zero. The number is these digits times ten to the power of `exponent`.
    private(set) var digits: [UInt8] = []
    private(set) var exponent = 0

    /// A larger exponent leads to zero or beyond every type.
    private static let exponentMax = 1_000_000

    /// - Parameter text: digits with or without a point, a sign and an exponent. The result is nil for any other text.
    init?(_ text: some StringProtocol) {
        var rest = text.utf8[...]
        func digit(_ byte: UInt8?) -> UInt8? { byte.flatMap { (0x30...0x39).contains($0) ? $0 - 0x30 : nil } }
        func sign() -> Bool? {
            guard let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else { return nil }
            rest.removeFirst()
            return first == UInt8(ascii: "-")
        }
        isNegative = sign() ?? false
        var isBehindPoint = false, hasDigits = false
        while let byte = rest.first {
            if let value = digit(byte) {
                hasDigits = true
                if isBehindPoint { exponent -= 1 }
                if value != 0 || !digits.isEmpty { digits.append(value) }
            } else if byte == UInt8(ascii: "."), !isBehindPoint {
                isBehindPoint = true
            } else {
                break
            }
            rest.removeFirst()
        }
        guard hasDigits else { return nil }
        if let mark = rest.first {
            guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
            rest.removeFirst()
            let isBelowOne = sign() ?? false
            guard !rest.isEmpty else { return nil }
            var given = 0
            while let byte = rest.first {
                guard let value = digit(byte) else { return nil }
                given = min(given * 10 + Int(value), Self.exponentMax)
                rest.removeFirst()
            }
            exponent += isBelowOne ? -given : given
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { exponent = 0 }
    }

    /// The digits as one number; nil if it has more than 128 bits.
    private var significand: UInt128? {
        var number: UInt128 = 0
        for digit in digits {
            let (tens, isOver) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOverNow) = tens.addingReportingOverflow(UInt128(digit))
            guard !isOver, !isOverNow else { return nil }
            number = sum
        }
        return number
    }

    /// The number as an integer; nil if it is not whole or needs more than 64 bits.
    var integer: Int64? {
        guard exponent >= 0, digits.count + exponent <= 19, var number = significand else { return nil }
        for _ in 0..<exponent { number *= 10 }
        return Int64(exactly: isNegative ? -Int128(number) : Int128(number))
    }

    /// The number as a decimal, without loss; nil if it has too many digits, or is too large or too small. A decimal has 128 bits of digits and
    /// an exponent of 8 bits.
    var decimal: Decimal? {
        guard !digits.isEmpty else { return 0 }
        guard let number = significand, Int8(exactly: exponent) != nil else { return nil }
        // Foundation reads a whole number of 128 bits without loss, and moving its point leaves the digits alone.
        let text = "\(isNegative ? "-" : "")\(number)"
        guard let whole = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !whole.isNaN else { return nil }
        return Decimal(sign: .plus, exponent: exponent, significand: whole)
    }

    // MARK: Sums

    /// The exact sum with an integer as text; nil if it has more digits than any double needs.
    func adding(_ other: Int64) -> String? {
        guard exponent <= 30, exponent >= -1200, digits.count + exponent <= 30 else { return nil }
        let isWhole = exponent >= 0
        let point = max(0, digits.count + exponent)
        var whole: Int128 = 0
        for digit in digits.prefix(point) { whole = whole * 10 + Int128(digit) }
        if isWhole { for _ in 0..<exponent { whole *= 10 } }
        // The digits behind the point, with leading zeros.
        var fraction = isWhole ? [] : [UInt8](repeating: 0, count: max(0, -(digits.count + exponent))) + digits.dropFirst(point)
        // As an integer and a fraction that is added to it: -1.25 is -2 and 0.75.
        if isNegative {
            whole = -whole
            if !fraction.isEmpty {
                whole -= 1
                fraction = Self.complement(fraction)
            }
        }
        whole += Int128(other)
        let isBelowZero = whole < 0
        if isBelowZero, !fraction.isEmpty {
            whole += 1
            fraction = Self.complement(fraction)
        }
        let behind = fraction.isEmpty ? "" : "." + String(decoding: fraction.map { $0 + 0x30 }, as: UTF8.self)
        return "\(isBelowZero ? "-" : "")\(whole.magnitude)\(behind)"
    }

    /// One minus the fraction.
    private static func complement(_ fraction: [UInt8]) -> [UInt8] {
        var result = fraction.map { 9 - $0 }
        var at = result.count - 1
        while at >= 0, result[at] == 9 {
            result[at] = 0
            at -= 1
        }
        if at >= 0 { result[at] += 1 }
        return result
    }
}
