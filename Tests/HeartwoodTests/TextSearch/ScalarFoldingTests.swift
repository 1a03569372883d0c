import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// The invariants of `ScalarFolding`: the letters of a folded text are the letters of the text.
@Suite struct ScalarFoldingTests {
    private static let options: [PredicateNode.Options] = [
        [.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive]]

    private func check(_ text: String, _ note: @autoclosure () -> String = "") {
        let letters = TermRequirements.letters(text)
        for options in Self.options {
            let folded = TermRequirements.letters(TextMatcher.fold(text, options))
            #expect(folded == letters, "\(text.unicodeScalars.map { String($0.value, radix: 16) }), \(options.rawValue) \(note())")
        }
    }

    @Test
    func `A scalar keeps its letters when it is folded, alone and beside others`() {
        // One of seventeen scalars, and all of the blocks that fold or compose.
        for value in UInt32(1)..<0x1FFFF where value < 0x600 || 0x1E00...0x1FFF ~= value || value % 17 == 0 {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .privateUse else { continue }
            let text = String(Character(scalar))
            check(text)
            check(["a", "\u{1100}", "\u{AC00}", "\u{10041}", "I"][Int(value % 5)] + text + "\u{301}")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Texts that compose, sign, join and lack UTF-8 keep their letters`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in NastyText.letter(&random) }.joined()
            check(text, "seed \(seed)")
        }
    }

    @Test
    func `Folding in Turkish and Lithuanian keeps the letters too`() {
        for language in ["tr_TR", "az_AZ", "lt_LT"] {
            for text in ["Iıİi", "I\u{307}", "ÌÍĨ", "istanbul IŞIK", "J\u{307}\u{303}"] {
                let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: Locale(identifier: language))
                #expect(TermRequirements.letters(folded) == TermRequirements.letters(text), "\(language): \(text)")
            }
        }
    }

    /// Foundation composes a letter beyond the basic plane with a mark as if it were the letter of its last 16 bits, so U+10041 and U+0301 became
    /// an Á, and a search without diacritics found an "a" in a text without one. U+1176 became a vowel that it is not.
    @Test
    func `Comparisons do not find letters that composing would make up`() throws {
        for options in Self.options {
            for (text, pattern) in [
                ("\u{10041}\u{301}", "a"), ("\u{10041}\u{301}", "\u{E1}"), ("\u{10041}\u{301}\u{11F41}", "\u{1F45}"), ("\u{1100}\u{1176}", "\u{AE4C}"),
            ] {
                #expect(try !TextMatcher(kind: .contains, pattern, options: options).matches(text), "\(text) \(pattern) \(options.rawValue)")
            }
            #expect(TextMatcher.fold("\u{11099}\u{110BA}", options) == TextMatcher.fold("\u{1109A}", options))
            #expect(TextMatcher.fold("x\u{10041}e\u{301}", [.caseInsensitive]) == "x\u{10041}\u{E9}")
        }
    }
}

/// Letters whose folding, composition or coding is peculiar.
enum NastyText {
    static let letters = Array("abcABCsSkKiIıİßẞſςσΣιΙᾳΐάéÉëçøđłÅK가각한ᄀ漢字本がかデ१กสๆ1٣.,-_ ").map(String.init)
        + ["\u{301}", "\u{308}", "\u{327}", "\u{345}", "\u{1161}", "\u{11A8}", "\u{1176}", "\u{200D}", "\u{200B}", "\u{AD}", "\u{3099}", "\u{FF9E}",
           "\u{E35}", "\u{E48}", "\u{93F}", "\u{94D}", "\u{20DD}", "\u{FE0F}", "\u{1F468}", "\u{1F3FB}", "\u{10041}", "\u{10400}", "\u{10428}", "\u{11F41}",
           "\u{1D15E}", "\u{2F800}", "\u{20001}", "\u{378}", "\u{E0001}", "\u{FFFD}", "\u{FFFF}", "\0", "\n", "\t", "\u{FB00}", "\u{FDFA}", "\u{1F3F4}", "\u{10FFFF}", "\\", "*", "?"]

    static func letter(_ random: inout SeededGenerator) -> String { letters.randomElement(using: &random) ?? "a" }

    /// A text of few different letters, so that patterns are found.
    static func text(_ alphabet: [String], _ most: Int, _ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" }.joined()
    }
}
