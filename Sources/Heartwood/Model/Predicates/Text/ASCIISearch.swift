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

    private let search: PatternSearch

    /// - Parameter pattern: owned by the matcher.
    /// - Returns: nil for an empty pattern, and for one with letters beyond ASCII.
    init?(_ pattern: UnsafeRawBufferPointer, ignoresCase: Bool) {
        guard !pattern.isEmpty, pattern.allSatisfy({ $0 < 0x80 }) else { return nil }
        search = PatternSearch(pattern, ignoresCase: ignoresCase)
    }

    func answer(_ text: UnsafeRawBufferPointer) -> Answer {
        if let start = search.first(in: text) { return isWhole(text, start &+ search.count) ? .found : .unknown }
        return isSeparated(text) ? .absent : .unknown
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
