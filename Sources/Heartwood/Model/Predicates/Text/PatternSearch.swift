import Foundation

/// A search of texts for a pattern of bytes.
///
/// It looks for two bytes of the pattern at once, at eight places at a time, and compares the whole pattern at each hit. It has no counted
/// references, so that loops over many texts pay for none.
struct PatternSearch {
    /// Owned by the matcher.
    private let pattern: UnsafeRawBufferPointer
    /// Whether the letters of the pattern, which are lowercase ASCII, stand for those in uppercase too.
    private let ignoresCase: Bool
    /// The index of the byte that is rarest in texts, and of another one: the pattern's end, or its start.
    private let sought: Int
    private let other: Int

    /// - Precondition: a pattern that ignores case is of ASCII, and folded.
    init(_ pattern: UnsafeRawBufferPointer, ignoresCase: Bool = false) {
        self.pattern = pattern
        self.ignoresCase = ignoresCase
        sought = ASCIIText.rarest(pattern)
        other = sought == pattern.count - 1 ? 0 : pattern.count - 1
    }

    var count: Int { pattern.count }
    /// The byte that is rarest in texts; nil for an empty pattern.
    var rarest: UInt8? { pattern.isEmpty ? nil : pattern[sought] }

    /// The index at which the pattern first occurs; nil if it does not.
    func first(in text: UnsafeRawBufferPointer) -> Int? {
        guard let base = text.baseAddress, pattern.count > 0 else { return pattern.isEmpty ? 0 : nil }
        guard text.count >= pattern.count else { return nil }
        let last = text.count &- pattern.count
        guard last >= 7 else { return (0...last).first { isPattern(base + $0) } }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let first = UInt64(pattern[sought]) &* ones, second = UInt64(pattern[other]) &* ones
        let firstCase = UInt64(caseBit(pattern[sought])) &* ones, secondCase = UInt64(caseBit(pattern[other])) &* ones
        let firsts = base + sought, seconds = base + other
        var at = 0
        while true {
            let difference = (UInt64(littleEndian: firsts.loadUnaligned(fromByteOffset: at, as: UInt64.self)) | firstCase) ^ first
                | (UInt64(littleEndian: seconds.loadUnaligned(fromByteOffset: at, as: UInt64.self)) | secondCase) ^ second
            var equal = ASCIIText.zeroes(difference)
            while equal != 0 {
                let start = at &+ equal.trailingZeroBitCount / 8
                if isPattern(base + start) { return start }
                equal &= equal &- 1
            }
            guard at < last &- 7 else { return nil }
            at = min(at &+ 8, last &- 7)
        }
    }

    /// 0x20 for a letter whose case makes no difference.
    @inline(__always)
    private func caseBit(_ byte: UInt8) -> UInt8 { ignoresCase ? ASCIIText.caseBit(byte) : 0 }

    // Not inlined, so that the loop above has all registers.
    @inline(never)
    private func isPattern(_ start: UnsafeRawPointer) -> Bool {
        guard ignoresCase else { return pattern.baseAddress.map { memcmp(start, $0, pattern.count) == 0 } ?? true }
        for index in 0..<pattern.count {
            let wanted = pattern[index]
            guard start.load(fromByteOffset: index, as: UInt8.self) | caseBit(wanted) == wanted else { return false }
        }
        return true
    }
}
