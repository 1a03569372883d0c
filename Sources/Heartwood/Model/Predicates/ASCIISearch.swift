/// A search for a folded pattern of ASCII in texts that it need not fold.
///
/// The letters of some scripts never fold to ASCII. In a text of ASCII and such letters the pattern is where its own letters are, or nowhere.
///
/// Invariants:
/// 1. `absent` is the answer only for a text whose scalars beyond ASCII all begin with a byte of `Leads`. None of these scalars folds to nothing or
///    to ASCII, and none changes a letter before it. `ASCIISearchTests` folds each of them.
/// 2. `found` is the answer only where ASCII, the text's end or such a scalar follows the pattern's letters, so no mark changes the last one.
struct ASCIISearch {
    enum Answer {
        case found, absent
        /// Only the folded text tells.
        case unknown
    }

    /// The first bytes of the scalars that the first invariant names: of most Greek and Cyrillic letters.
    enum Leads {
        static let range: ClosedRange<UInt8> = 0xCE...0xD1

        /// The high bit of each of eight bytes that begins another scalar beyond ASCII.
        @inline(__always)
        static func others(_ word: UInt64) -> UInt64 {
            // Of a byte without its high bit, the sum with 0x80 - n has it set from n on.
            let low = word & ~ASCIIText.highBits, below = ~(low &+ 0x3232_3232_3232_3232), above = low &+ 0x2E2E_2E2E_2E2E_2E2E
            // A first byte has its second highest bit set too.
            return word & word &<< 1 & (below | above) & ASCIIText.highBits
        }
    }

    /// Owned by the matcher.
    private let pattern: UnsafeRawBufferPointer
    private let ignoresCase: Bool
    /// The index of the pattern's byte that is rarest in texts, and of another one: its end, or its start.
    private let sought: Int
    private let other: Int

    /// - Returns: nil for an empty pattern, and for one with letters beyond ASCII.
    init?(_ pattern: UnsafeRawBufferPointer, ignoresCase: Bool) {
        guard !pattern.isEmpty, pattern.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.pattern = pattern
        self.ignoresCase = ignoresCase
        sought = ASCIIText.rarest(pattern)
        other = sought == pattern.count - 1 ? 0 : pattern.count - 1
    }

    func answer(_ text: UnsafeRawBufferPointer) -> Answer {
        let last = text.count &- pattern.count
        guard last >= 7, let base = text.baseAddress else { return .unknown }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let first = UInt64(pattern[sought]) &* ones, second = UInt64(pattern[other]) &* ones
        let firstCase = UInt64(caseBit(pattern[sought])) &* ones, secondCase = UInt64(caseBit(pattern[other])) &* ones
        let firsts = base + sought, seconds = base + other
        var at = 0
        while true {
            let difference = (UInt64(littleEndian: firsts.loadUnaligned(fromByteOffset: at, as: UInt64.self)) | firstCase) ^ first
                | (UInt64(littleEndian: seconds.loadUnaligned(fromByteOffset: at, as: UInt64.self)) | secondCase) ^ second
            // Each equal byte has its high bit set. Above the lowest one, other bytes may have it set too.
            var equal = (difference &- ones) & ~difference & ASCIIText.highBits
            while equal != 0 {
                let start = at &+ equal.trailingZeroBitCount / 8
                if isPattern(base + start) { return isWhole(text, start &+ pattern.count) ? .found : .unknown }
                equal &= equal &- 1
            }
            guard at < last &- 7 else { return isSeparated(text) ? .absent : .unknown }
            at = min(at &+ 8, last &- 7)
        }
    }

    /// 0x20 for a letter whose case makes no difference.
    @inline(__always)
    private func caseBit(_ byte: UInt8) -> UInt8 { ignoresCase && byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? 0x20 : 0 }

    @inline(never)
    private func isPattern(_ start: UnsafeRawPointer) -> Bool {
        for index in 0..<pattern.count {
            let wanted = pattern[index]
            guard start.load(fromByteOffset: index, as: UInt8.self) | caseBit(wanted) == wanted else { return false }
        }
        return true
    }

    /// Whether nothing behind a letter that ends at `end` changes it.
    private func isWhole(_ text: UnsafeRawBufferPointer, _ end: Int) -> Bool {
        end == text.count || text[end] < 0x80 || Leads.range.contains(text[end])
    }

    /// Whether all scalars beyond ASCII begin with a byte of `Leads`.
    @inline(__always)
    private func isSeparated(_ text: UnsafeRawBufferPointer) -> Bool {
        var others: UInt64 = 0, at = 0
        while at &+ 8 <= text.count {
            others |= Leads.others(UInt64(littleEndian: text.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
            at &+= 8
        }
        if at < text.count { others |= Leads.others(ASCIIText.word(text, at: at) ?? .max) }
        return others == 0
    }
}
