import Testing

@testable import Heartwood

/// The look-up of names, beside a dictionary.
@Suite struct PropertyNamesTests {
    @Test
    func `Every name has the index that a dictionary gives, of any length and any letters, among few names and many`() {
        let kinds = ["a", "b", "ab", "A", "\u{E9}", "e\u{301}x", "address.city", "fourteenLetters", "fifteenLettersX", "sixteenLettersXY", "\u{212A}", "\u{30D5}"]
        let asked = kinds + ["", "K", "aa", "a\0", "\0", "fifteenLettersY", "sixteenLettersXZ", "e\u{301}", "\u{E9}x", String(repeating: "l", count: 100)]
        for count in [0, 1, 2, 12, 31, 32, 33, 200] {
            // The kinds come last and first.
            for isFirst in [false, true] {
                let fillers = (0..<max(0, count - kinds.count)).map { "filler\($0)" }
                let names = Array((isFirst ? kinds + fillers : fillers + kinds).prefix(count))
                let all = Dictionary(names.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
                let known = PropertyNames(names, all)
                for name in asked + names { #expect(known[name] == all[name], "\(name.debugDescription) among \(count)") }
            }
        }
    }
}
