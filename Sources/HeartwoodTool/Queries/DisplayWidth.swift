/// The number of terminal columns that a text takes.
///
/// Ideographs, Hangul, full-width forms and emoji take two, combining and invisible characters none. Terminals differ about the others.
/// Source: Unicode Standard Annex 11, East Asian Width, https://www.unicode.org/reports/tr11/
enum DisplayWidth {
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]

    static func of(_ text: String) -> Int {
        var width = 0
        // Most texts are ASCII, where a byte is a column.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        for character in text { width += of(character) }
        return width
    }

    private static func of(_ character: Character) -> Int {
        character.unicodeScalars.reduce(0) { max($0, of($1)) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: 0
        default: wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// The text, padded with spaces to the width.
    static func padded(_ text: String, to width: Int) -> String { text + String(repeating: " ", count: max(0, width - of(text))) }

    /// The beginning of the text, with an ellipsis if something is left out.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var result = "", used = 0
        for character in text {
            let next = used + of(character)
            guard next < width else { break }
            result.append(character)
            used = next
        }
        return result + "…"
    }

    /// Replaces control characters by pictures: they would begin another line, move the text after them, or command the terminal. Also replaces
    /// characters that change the direction of the text after them.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isControl(scalar) ? (scalar.value < 0x20 ? Unicode.Scalar(0x2400 + scalar.value) : nil) ?? "\u{FFFD}" : scalar)
        }
        return String(result)
    }

    /// Separators of lines and paragraphs, and the characters that embed, override and isolate a direction.
    private static let directional: Set<UInt32> = Set(0x2028...0x202E).union(0x2066...0x2069)

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || directional.contains(scalar.value)
    }
}
