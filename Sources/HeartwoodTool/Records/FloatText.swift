/// A binary floating-point number of a text. A number that its type rounds is taken; one that becomes infinite or zero by it is not.
enum FloatText {
    /// - Parameter text: decimal digits with or without a point, a sign and an exponent; or infinity or NaN by name, as exports write them.
    /// - Returns: nil for any other text, and for a number that is too large or too small for its type.
    static func value<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String, as type: Number.Type) -> Number? {
        guard let number = Number(text) else { return nil }
        // Digits in a name are the bits of a NaN.
        guard number.isFinite else { return text.utf8.contains(where: { (0x30...0x39).contains($0) }) ? nil : number }
        if number == 0 { return DecimalDigits(text)?.digits.isEmpty == true ? number : nil }
        let isHexadecimal = text.utf8.contains { $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: "X") }
        return isHexadecimal ? nil : number
    }
}
