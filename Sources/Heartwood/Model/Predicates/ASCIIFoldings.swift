/// Which ASCII bytes letters beyond ASCII fold to, by blocks of 64 scalars, each learnt once: tells at a glance of most texts in other
/// scripts that they do not have what a pattern needs.
///
/// Invariants:
/// 1. A byte that is not among a block's is what no scalar of the block folds to alone. A block that was not looked at yet has all.
/// 2. A text that is folded as a whole has no ASCII byte that none of its scalars folds to alone: what scalars do to each other is to
///    lose marks and to be composed. (`TextFoldingTests` compares.)
final class ASCIIFoldings {
    /// What may be asked for: what separates scalars while they are learnt is not among it.
    static let bytes: ClosedRange<UInt8> = 0x21...0x7E

    private let options: PredicateNode.Options
    /// For each block bits for the bytes below 64, then for each block those for the others.
    private let sets: UnsafeMutablePointer<UInt64>
    /// Blocks that were learnt.
    private var learnt: Set<Int> = []

    /// Up to the scalars of three bytes of UTF-8.
    private static let blockCount = 1024

    init(_ options: PredicateNode.Options) {
        self.options = options
        sets = .allocate(capacity: Self.blockCount * 2)
        sets.initialize(repeating: .max, count: Self.blockCount * 2)
    }

    deinit {
        sets.deallocate()
    }

    /// Whether a text, folded, may have a byte of `bytes`.
    func mayHave(_ byte: UInt8, _ text: UnsafeRawBufferPointer) -> Bool {
        let isLetter = options.contains(.caseInsensitive) && byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
        let caseBit: UInt8 = isLetter ? 0x20 : 0
        let ones: UInt64 = 0x0101_0101_0101_0101, high = ones << 7
        let caseBits = UInt64(caseBit) &* ones, wanted = UInt64(byte) &* ones
        let sets = sets + (byte < 64 ? 0 : Self.blockCount), bit = UInt64(byte & 63)
        var at = 0
        while at < text.count {
            let first = text[at]
            if first < 0x80 {
                if at &+ 8 <= text.count {
                    let word = text.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    if word & high == 0 {
                        let difference = (word | caseBits) ^ wanted
                        if (difference &- ones) & ~difference & high != 0 { return true }
                        at &+= 8
                        continue
                    }
                }
                if first | caseBit == byte { return true }
                at &+= 1
                continue
            }
            // What is no UTF-8 is left to others, as are four bytes.
            guard let letter = ShortScalar(text, at: at) else { return true }
            at &+= letter.size
            let block = Int(letter.value >> 6)
            if sets[block] >> bit & 1 != 0, learn(block) || sets[block] >> bit & 1 != 0 { return true }
        }
        return false
    }

    /// - Returns: whether the block's set says no more than it did.
    @inline(never)
    private func learn(_ block: Int) -> Bool {
        guard learnt.insert(block).inserted else { return true }
        var scalars = String.UnicodeScalarView()
        for value in UInt32(block) << 6..<UInt32(block + 1) << 6 {
            // Halves of pairs are no UTF-8.
            guard let scalar = Unicode.Scalar(value) else { return true }
            scalars.append(scalar)
            scalars.append("\n")
        }
        var low: UInt64 = 0, high: UInt64 = 0
        for byte in TextMatcher.fold(String(scalars), options).utf8 where byte < 0x80 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
        (sets[block], sets[block + Self.blockCount]) = (low, high)
        return false
    }
}
