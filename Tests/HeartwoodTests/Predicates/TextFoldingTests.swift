import Foundation
import TestSupport
import Testing

@testable import Heartwood

/// Text is compared without case and diacritics by bytes where that is the same, and it is the same.
@Suite struct TextFoldingTests {
    private static let alphabet = Array("abzAZ @[`{09éÉèñÑßäöÜİıŁłøØœΣσςΩάЖжёЁїデテがか漢字한글ẞǅﬁÅK").map(String.init)
        + ["e\u{301}", "\u{308}", "\u{200D}", "🙂", "क्षि", "ท้", "\u{1112}\u{1161}", "\u{FE0F}", "ﷺ"]

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func everyWayOfFoldingGivesTheSame(seed: UInt64) throws {
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
            let pattern = Bool.random(using: &random) ? text(3) : String(whole.dropFirst(Int.random(in: 0...whole.count, using: &random)).prefix(4)).uppercased()
            for options in [[.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive], []] as [PredicateNode.Options] {
                let folded = TextMatcher.fold(whole, options), sought = TextMatcher.fold(pattern, options)
                let expected = sought.isEmpty || Array(folded.utf8).indices.contains { Array(folded.utf8)[$0...].starts(with: sought.utf8) }
                let matcher = TextMatcher(kind: .contains, pattern, options: options)
                let found = try Array(whole.utf8).withUnsafeBytes { try matcher.matches($0, scope) }
                #expect(found == expected, "seed \(seed): \(whole.debugDescription) contains \(pattern.debugDescription), \(options.rawValue)")
                #expect(try matcher.matches(whole) == expected)
                let equal = TextMatcher(kind: .order(.lessOrEqual), pattern, options: options)
                let isBefore = try Array(whole.utf8).withUnsafeBytes { try equal.matches($0, scope) }
                #expect(isBefore == !sought.utf8.lexicographicallyPrecedes(folded.utf8), "seed \(seed): \(whole.debugDescription), \(pattern.debugDescription)")
            }
        }
    }
}
