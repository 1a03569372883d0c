import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// The invariants of `ASCIISearch`, beside the folded text.
@Suite struct ASCIISearchTests {
    private static let options: [PredicateNode.Options] = [[.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive]]

    private func answer(_ pattern: String, _ text: [UInt8], _ options: PredicateNode.Options) -> ASCIISearch.Answer? {
        Array(TextMatcher.fold(pattern, options).utf8).withUnsafeBytes { pattern in
            text.withUnsafeBytes { ASCIISearch(pattern, ignoresCase: options.contains(.caseInsensitive))?.answer($0) }
        }
    }

    private func isIn(_ pattern: String, _ text: [UInt8], _ options: PredicateNode.Options) -> Bool {
        let folded = Array(TextMatcher.fold(String(decoding: text, as: UTF8.self), options).utf8)
        let wanted = Array(TextMatcher.fold(pattern, options).utf8)
        return folded.indices.contains { folded[$0...].starts(with: wanted) }
    }

    @Test
    func `Each scalar that needs no folding folds to no ASCII, and leaves the letters beside it as they are`() throws {
        for value in UInt32(0x80)..<0x800 {
            guard let scalar = Unicode.Scalar(value), let lead = String(scalar).utf8.first, ASCIISearch.Leads.range.contains(lead) else { continue }
            for options in Self.options {
                let folded = TextMatcher.fold(String(scalar), options)
                #expect(!folded.isEmpty && folded.unicodeScalars.allSatisfy { !$0.isASCII }, "\(String(value, radix: 16)), \(options.rawValue)")
                for letter in ["a", "I", "Z", "0", "<"] {
                    let between = TextMatcher.fold(letter + String(scalar) + letter, options), own = TextMatcher.fold(letter, options)
                    #expect(between == own + folded + own, "\(letter) beside \(String(value, radix: 16)), \(options.rawValue)")
                }
            }
        }
    }

    @Test
    func `Each byte is known as one that begins another scalar beyond ASCII, or not`() {
        for byte in UInt8.min...UInt8.max {
            for position in UInt64(0)..<8 {
                for filler in [0x00, 0x7F, 0x80, 0xBF, 0xCE, 0xD1] as [UInt64] {
                    let rest = filler &* 0x0101_0101_0101_0101 & ~(0xFF << (position * 8)), wanted: UInt64 = 0x80 << (position * 8)
                    let isOther = byte >= 0xC0 && !ASCIISearch.Leads.range.contains(byte)
                    #expect(ASCIISearch.Leads.others(rest | UInt64(byte) << (position * 8)) == (isOther ? wanted : 0), "\(byte) beside \(filler)")
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `Whatever it answers for a text is true of the folded text`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = [
            "a", "A", "b", "B", "c", " ", "@", "[", "{", "`", "0", "e\u{301}", "\u{E9}", "\u{3B1}", "\u{3A3}", "\u{436}", "\u{401}", "\u{DF}",
            "\u{65E5}", "\u{1F642}", "\u{308}",
        ]
        var counts: [ASCIISearch.Answer: Int] = [:]
        for _ in 0..<3000 {
            // Few kinds of letters, so that patterns occur.
            let some = (0..<4).map { _ in letters.randomElement(using: &random) ?? "a" }
            var text = Array((0..<Int.random(in: 0...30, using: &random)).map { _ in some.randomElement(using: &random) ?? "a" }.joined().utf8)
            if Int.random(in: 0..<10, using: &random) == 0, !text.isEmpty {
                text[Int.random(in: text.indices, using: &random)] = [0x80, 0xCE, 0xE4, 0xFF].randomElement(using: &random) ?? 0
            }
            let pattern = (0..<Int.random(in: 1...6, using: &random)).map { _ in some.randomElement(using: &random) ?? "a" }.joined()
            for options in Self.options {
                guard let answer = answer(pattern, text, options) else {
                    #expect(!TextMatcher.fold(pattern, options).utf8.allSatisfy { $0 < 0x80 } || TextMatcher.fold(pattern, options).isEmpty)
                    continue
                }
                counts[answer, default: 0] += 1
                guard answer != .unknown else { continue }
                let note = "seed \(seed): \(text) contains \(pattern.debugDescription), \(options.rawValue)"
                #expect(isIn(pattern, text, options) == (answer == .found), "\(note)")
            }
        }
        for answer in [.found, .absent, .unknown] as [ASCIISearch.Answer] { #expect(counts[answer, default: 0] > 100, "\(answer)") }
    }

    @Test
    func `Texts of ASCII, Greek and Russian need no folding`() {
        for text in ["the lord of the rings", "\u{43F}\u{440}\u{438}\u{432}\u{435}\u{442} RIVER", "\u{3B8}\u{3AC}\u{3BB}\u{3B1}\u{3C3} river"] {
            for options in Self.options {
                for pattern in ["river", "lord", "xyz"] {
                    #expect(answer(pattern, Array(text.utf8), options) != .unknown, "\(text) contains \(pattern)")
                }
            }
        }
    }
}
