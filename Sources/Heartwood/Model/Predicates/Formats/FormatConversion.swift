/// The kind of argument that a conversion such as `%@` or `%ld` takes.
struct FormatConversion {
    private enum Kind {
        case anything, text, character, number
    }

    private let kind: Kind

    /// - Parameter letters: the letters behind the percent sign.
    init(_ letters: String) {
        let last = letters.lowercased().last
        kind = letters == "@" ? .anything : last == "s" ? .text : last == "c" ? .character : .number
    }

    /// Whether an argument fits.
    func takes(_ value: PredicateValue) -> Bool {
        if kind == .anything { return true }
        return switch value {
        case .integer, .double, .bool, .decimal: kind != .text
        case .text(let text): kind == .text || kind == .character && text.unicodeScalars.count == 1
        default: false
        }
    }
}
