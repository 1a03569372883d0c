import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// The search for a pattern, beside the plain one.
@Suite struct PatternSearchTests {
    private func check(_ pattern: [UInt8], _ text: [UInt8], ignoresCase: Bool) {
        let letters = text.map { ignoresCase && (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let plain = text.count < pattern.count ? nil : (0...text.count - pattern.count).first { letters[$0...].starts(with: pattern) }
        let found = pattern.withUnsafeBytes { pattern in text.withUnsafeBytes { PatternSearch(pattern, ignoresCase: ignoresCase).first(in: $0) } }
        #expect(found == plain, "\(pattern) in \(text), case \(ignoresCase)")
    }

    @Test
    func `Every short pattern is found in every short text of two letters where it first occurs`() {
        let patterns = (0...3).flatMap { count in (0..<1 << count).map { bits in (0..<count).map { UInt8(bits >> $0 & 1 == 0 ? 0x61 : 0x62) } } }
        for count in 0...11 {
            for bits in 0..<1 << count {
                let text = (0..<count).map { UInt8(bits >> $0 & 1 == 0 ? 0x61 : 0x62) }
                for pattern in patterns { check(pattern, text, ignoresCase: false) }
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Patterns of any length and bytes are found in longer texts, in either case where that makes no difference`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters: [UInt8] = [0x61, 0x41, 0x62, 0x42, 0x5B, 0x7B, 0x40, 0x60, 0x20, 0xC3, 0xA9, 0xE1, 0x00, 0xFF]
        for _ in 0..<3000 {
            let some = (0..<3).map { _ in letters.randomElement(using: &random) ?? 0 }
            let text = (0..<Int.random(in: 0...60, using: &random)).map { _ in some.randomElement(using: &random) ?? 0 }
            let count = [0, 1, 2, 5, 8, 9, 20].randomElement(using: &random) ?? 0
            let pattern = (0..<count).map { _ in some.randomElement(using: &random) ?? 0 }
            check(pattern, text, ignoresCase: false)
            // A pattern that ignores case is of ASCII, and folded.
            check(pattern.filter { $0 < 0x80 }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, text, ignoresCase: true)
        }
    }
}
