import Foundation

/// One scalar's part in a text index.
///
/// A text index folds each scalar by itself, and drops every scalar whose folding depends on its neighbours. So the folding of a text contains
/// the folding of each part of it. `TextMatcher.fold` does not have this property: it composes letters with the marks that follow.
///
/// Invariants:
/// 1. For any text t and any options of a comparison, the letters of `TextMatcher.fold(t, options)` are the letters of t. So an index never
///    misses a match, whatever the options. `ScalarFoldingTests` tests each scalar, alone and beside others.
/// 2. A scalar has at most three letters and three word letters.
struct ScalarFolding {
    /// Up to three scalars of 21 bits each, the first one lowest; zero bits for none.
    var letters: UInt64 = 0
    /// The same for words, where more scalars are kept: a word is compared with words only.
    var wordLetters: UInt64 = 0
    var role = Role.separator

    enum Role: UInt8 {
        /// Ends a word.
        case separator
        /// A letter or digit of a word.
        case letter
        /// A mark or a joiner. It neither ends a word nor counts.
        case mark
        /// A letter of a script that writes no spaces between words. Two neighbours make a word.
        case paired
    }

    static let bits = 21
    static let mask: UInt64 = 1 << 21 - 1
    static let countMax = 3

    init() {}

    init(_ scalar: Unicode.Scalar) {
        let role = Self.role(of: scalar)
        if Self.isIdeograph(scalar.value) {
            letters = UInt64(scalar.value)
            (wordLetters, self.role) = (letters, .paired)
            return
        }
        var letters: [UInt32] = [], words: [UInt32] = []
        for part in Self.decomposed(scalar) where part.properties.canonicalCombiningClass == .notReordered {
            for folded in Self.caseFolded(part) where folded.properties.canonicalCombiningClass == .notReordered {
                // Turkish folding exchanges the letters with and without a dot.
                let value = folded.value == 0x131 ? 0x69 : folded.value
                // A comparison without case turns the mark U+0345 into this letter, and one without diacritics drops the mark.
                if !Self.isDropped(part), !Self.isDropped(folded), value != 0x3B9 { letters.append(value) }
                if folded.properties.generalCategory != .format { words.append(value) }
            }
        }
        self.letters = Self.packed(letters)
        guard role != .separator else { return }
        wordLetters = Self.packed(words)
        self.role = wordLetters == 0 ? .mark : role == .mark ? .letter : role
    }

    private static func packed(_ values: [UInt32]) -> UInt64 {
        values.prefix(countMax).reversed().reduce(0) { $0 << bits | UInt64($1) }
    }

    private static func decomposed(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        String(Character(scalar)).decomposedStringWithCanonicalMapping.unicodeScalars
    }

    private static func caseFolded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        String(Character(scalar)).folding(options: .caseInsensitive, locale: nil).decomposedStringWithCanonicalMapping.unicodeScalars
    }

    /// Whether a scalar's folding may depend on the scalars beside it, or it stands for bytes that are no UTF-8.
    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .format: return true
        case .control: return scalar.value != 0x09 && scalar.value != 0x0A && scalar.value != 0x0D
        default: break
        }
        switch scalar.value {
        // Half-width voiced marks, skin tones, and the vowels and finals of Hangul, which compose with what precedes them.
        case 0xFF9E, 0xFF9F, 0x1F3FB...0x1F3FF, 0x1160...0x11FF, 0xD7B0...0xD7FF, 0xFFFD: return true
        default: return false
        }
    }

    private static func role(of scalar: Unicode.Scalar) -> Role {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: isPaired(scalar.value) ? .paired : .letter
        case .decimalNumber, .letterNumber, .otherNumber: .letter
        case .nonspacingMark, .spacingMark, .enclosingMark: isPaired(scalar.value) ? .paired : .mark
        // The zero-width space separates words where no space is seen.
        case .format: scalar.value == 0x200B ? .separator : .mark
        default: .separator
        }
    }

    private static func isIdeograph(_ value: UInt32) -> Bool {
        switch value {
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0x20000...0x2A6DF: true
        default: false
        }
    }

    private static func isPaired(_ value: UInt32) -> Bool {
        switch value {
        // Thai and Lao; Myanmar; Khmer; kana, Bopomofo and ideographs; half-width kana; ideographs beyond the basic plane.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x312F, 0x31A0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xF900...0xFAFF, 0xFF66...0xFF9D, 0x20000...0x3FFFF: true
        default: false
        }
    }
}
