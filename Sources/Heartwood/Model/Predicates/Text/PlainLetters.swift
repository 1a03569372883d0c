/// Letters and other characters that no locale takes for another one, nor leaves out, where it compares composed texts.
///
/// Some characters do not count in such a comparison (a soft hyphen, a joiner), and some are equal to others (a final sigma). So texts of any
/// characters may be equal that differ, and not even their order is one: a may be equal to b, and b to c, but not a to c. Texts of these
/// characters are equal only if their bytes are.
enum PlainLetters {
    /// ASCII; Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari and Thai letters; kana, ideographs and Hangul syllables.
    static let ranges: [ClosedRange<UInt32>] = [
        0x20...0x7E, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x131, 0x134...0x13E, 0x141...0x148, 0x14A...0x17E, 0x391...0x3A1, 0x3A3...0x3C1,
        0x3C3...0x3CE, 0x400...0x481, 0x48A...0x52F, 0x5D0...0x5EA, 0x621...0x63A, 0x641...0x64A, 0x904...0x939, 0xE01...0xE2E, 0x3041...0x3096,
        0x30A1...0x30FA, 0x4E00...0x9FA5, 0xAC00...0xD7A3,
    ]

    /// - Parameter text: in its composed form.
    static func areAll(in text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            let value = scalar.value
            return value < 0x80 ? value >= 0x20 && value < 0x7F : ranges.contains { $0.contains(value) }
        }
    }
}
