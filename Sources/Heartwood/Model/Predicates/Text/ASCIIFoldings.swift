/// The ASCII bytes to which non-ASCII letters fold, by blocks of 64 scalars, each learnt once. Most texts in other scripts are rejected by it
/// without folding: they cannot contain a byte that the pattern needs.
///
/// Invariants:
/// 1. A byte that is not in a block's set is one to which no scalar of the block folds alone. A block that was not learnt yet has all bytes.
/// 2. Folding a whole text yields no ASCII byte that none of its scalars yields alone: scalars affect each other only by losing marks and by
///    composition. (`TextFoldingTests` compares.)
final class ASCIIFoldings {
    /// The bytes that may be asked about. The separator of scalars during learning is not one of them.
    static let bytes: ClosedRange<UInt8> = 0x21...0x7E

    private let options: PredicateNode.Options
    /// For each block the bits of the bytes below 64, then for each block the bits of the others.
    private let sets: UnsafeMutablePointer<UInt64>
    /// The blocks that were learnt.
    private var learnt: Set<Int> = []

    /// Covers the scalars of up to three bytes of UTF-8.
    private static let blockCount = 1024

    init(_ options: PredicateNode.Options) {
        self.options = options
        sets = .allocate(capacity: Self.blockCount * 2)
        sets.initialize(repeating: .max, count: Self.blockCount * 2)
    }

    deinit {
        sets.deallocate()
    }

    /// Whether a text, once folded, may contain a byte of `bytes`. Folds nothing.
    func mayHave(_ byte: UInt8, _ text: UnsafeRawBufferPointer) -> Bool {
        let caseBit = options.contains(.caseInsensitive) ? ASCIIText.caseBit(byte) : 0
        let ones: UInt64 = 0x0101_0101_0101_0101
        let caseBits = UInt64(caseBit) &* ones, wanted = UInt64(byte) &* ones
        let sets = sets + (byte < 64 ? 0 : Self.blockCount), bit = UInt64(byte & 63)
        var at = 0
        while at < text.count {
            let first = text[at]
            if first < 0x80 {
                if let word = ASCIIText.word(text, at: at) {
                    let equal = ASCIIText.zeroes((word | caseBits) ^ wanted), ends = word & ASCIIText.highBits
                    // Bytes behind the first one beyond ASCII are looked at later.
                    if equal.trailingZeroBitCount < ends.trailingZeroBitCount { return true }
                    at &+= min(ends.trailingZeroBitCount / 8, text.count &- at)
                    continue
                }
                if first | caseBit == byte { return true }
                at &+= 1
                continue
            }
            // Invalid UTF-8 and scalars of four bytes are left to the caller.
            guard let letter = ShortScalar(text, at: at) else { return true }
            at &+= letter.size
            let block = Int(letter.value >> 6)
            if sets[block] >> bit & 1 != 0, learn(block) || sets[block] >> bit & 1 != 0 { return true }
        }
        return false
    }

    /// - Returns: whether the block's set is unchanged.
    @inline(never)
    private func learn(_ block: Int) -> Bool {
        guard learnt.insert(block).inserted else { return true }
        var scalars = String.UnicodeScalarView()
        for value in UInt32(block) << 6..<UInt32(block + 1) << 6 {
            // Surrogates are not valid UTF-8. Their block keeps all bytes.
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
