import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Text is compared without case and diacritics by bytes if the result is the same.
@Suite struct TextFoldingTests {
    private static let alphabet = Array("abzAZ @[`{09éÉèñÑßäöÜİıŁłøØœΣσςΩάЖжёЁїデテがか漢字한글ẞǅﬁÅK").map(String.init)
        + ["e\u{301}", "\u{308}", "\u{200D}", "🙂", "क्षि", "ท้", "\u{1112}\u{1161}", "\u{FE0F}", "ﷺ"]

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `All ways of folding give the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scope = QueryScope(view: nil)
        func text(_ most: Int) -> String {
            let isPlain = Bool.random(using: &random)
            return (0..<Int.random(in: 0...most, using: &random)).map { _ in
                isPlain ? Self.alphabet[Int.random(in: 0..<11, using: &random)] : Self.alphabet.randomElement(using: &random)!
            }.joined()
        }
        for _ in 0..<300 {
            let whole = text(24)
            let pattern = Bool.random(using: &random) ? text(3) : String(
                whole.dropFirst(Int.random(in: 0...whole.count, using: &random)).prefix(4)).uppercased()
            for options in [[.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive], []] as [PredicateNode.Options] {
                let folded = TextMatcher.fold(whole, options), sought = TextMatcher.fold(pattern, options)
                let expected = sought.isEmpty || Array(folded.utf8).indices.contains { Array(folded.utf8)[$0...].starts(with: sought.utf8) }
                let matcher = TextMatcher(kind: .contains, pattern, options: options)
                let found = try Array(whole.utf8).withUnsafeBytes { try matcher.matches($0, matcher.folding(scope)) }
                #expect(found == expected, "seed \(seed): \(whole.debugDescription) contains \(pattern.debugDescription), \(options.rawValue)")
                #expect(try matcher.matches(whole) == expected)
                let equal = TextMatcher(kind: .order(.lessOrEqual), pattern, options: options)
                let isBefore = try Array(whole.utf8).withUnsafeBytes { try equal.matches($0, equal.folding(scope)) }
                #expect(
                    isBefore == !sought.utf8.lexicographicallyPrecedes(folded.utf8),
                    "seed \(seed): \(whole.debugDescription), \(pattern.debugDescription)")
            }
        }
    }

    private static let allOptions: [PredicateNode.Options] = [
        [.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive]]

    /// The invariants of `ASCIIFoldings`, over scalars of every block.
    @Test(arguments: [5, 6, 7] as [UInt64])
    func `No text is denied a byte that its folding has`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let marks = "\u{301}\u{308}\u{327}\u{345}\u{5B0}\u{64B}\u{93C}\u{E31}\u{20DD}\u{200D}".unicodeScalars.map { $0 }
        func scalar() -> Unicode.Scalar {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return marks.randomElement(using: &random) ?? "x"
            case 1: return Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &random))
            case 2...4: return Unicode.Scalar(UInt32.random(in: 0x80..<0x2200, using: &random)) ?? "x"
            default: return Unicode.Scalar(UInt32.random(in: 0x80...0xFFFF, using: &random)) ?? "x"
            }
        }
        for options in Self.allOptions {
            let foldings = ASCIIFoldings(options)
            for _ in 0..<4000 {
                var scalars = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 1...12, using: &random) { scalars.append(scalar()) }
                let text = String(scalars)
                for byte in Set(TextMatcher.fold(text, options).utf8) where ASCIIFoldings.bytes.contains(byte) {
                    let mayHave = Array(text.utf8).withUnsafeBytes { foldings.mayHave(byte, $0) }
                    #expect(mayHave, "seed \(seed): \(text.debugDescription) has \(byte), \(options.rawValue)")
                }
            }
        }
    }

    @Test
    func `Texts in other scripts are quickly distinguished from the pattern`() {
        let foldings = ASCIIFoldings([.caseInsensitive, .diacriticInsensitive])
        func mayHave(_ letter: Character, _ text: String) -> Bool {
            Array(text.utf8).withUnsafeBytes { foldings.mayHave(letter.asciiValue ?? 0, $0) }
        }
        for text in ["привет, мир", "θάλασσα", "日本語の検索", "한국어", "שלום", "العربية", "ไทย", "écluse à Señor", "", "[brackets]"] {
            #expect(!mayHave("v", text), "\(text)")
        }
        for text in ["river", "RIVER", "žluťoučký ṽ", "привет V", "🙂", "日本語 v"] { #expect(mayHave("v", text), "\(text)") }
        #expect(mayHave("[", "[brackets]") && !mayHave("{", "[brackets]"))
        #expect(mayHave("k", "\u{212A}") && mayHave("s", "ß") && mayHave("e", "écluse"))
        let broken: [[UInt8]] = [[0xC3], [0xE1, 0xB9], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xFF], [0xD0, 0x41]]
        for bytes in broken { #expect(bytes.withUnsafeBytes { foldings.mayHave(UInt8(ascii: "v"), $0) }, "left to whoever repairs it") }
    }

    /// The search for two bytes at a time compared with the plain one.
    @Test(arguments: [8, 9] as [UInt64])
    func `A pattern is found at every position`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in [0x61, 0x62, 0x60, 0xE1, 0x00].randomElement(using: &random) ?? 0 } }
        for _ in 0..<20_000 {
            let text = bytes(Int.random(in: 0...40, using: &random)), pattern = bytes(Int.random(in: 0...6, using: &random))
            let expected = pattern.isEmpty || text.indices.contains { text[$0...].starts(with: pattern) }
            let found = try pattern.withUnsafeBytes { pattern in
                let comparison = TextComparison(.contains, pattern)
                return try text.withUnsafeBytes { try comparison.holds($0) }
            }
            #expect(found == expected, "seed \(seed): \(pattern) in \(text)")
        }
    }
}
