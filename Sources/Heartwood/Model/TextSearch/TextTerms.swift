/// The terms of one text in a text index: its trigrams and its words, each once. Reused for many texts; it allocates only while it grows.
/// Spec: docs/format/stack.md, "Text indexes".
final class TextTerms {
    /// A store with other terms makes its text indexes anew.
    static let version = 1
    /// Marks the start and the end of a text in trigrams. A folded text does not contain these scalars.
    static let start: UInt64 = 2, end: UInt64 = 3
    /// Starts the term of a word.
    static let wordTag: UInt8 = 1
    /// Ends a word in its term. The word's class follows.
    static let wordEnd: UInt8 = 4
    /// The only term of a text that is longer than `byteCountMax`. Each search reads such texts.
    static let longText: [UInt8] = [5]
    static let byteCountMax = 256 << 10
    /// The most bytes of a word in its term.
    static let wordSizeMax = 48
    /// The most bytes of a term.
    static let sizeMax = 1 + wordSizeMax + 2

    private static let trigramMask: UInt64 = 1 << 63 - 1

    private let wantsTrigrams: Bool
    // The runtime would check each letter's access.
    @exclusivity(unchecked) private var trigrams = TrigramSet()
    @exclusivity(unchecked) private(set) var words = WordSet()
    /// The letter of a script without spaces that waits for its neighbour; 0 for none.
    @exclusivity(unchecked) private var waiting: UInt64 = 0
    private let term = UnsafeMutablePointer<UInt8>.allocate(capacity: TextTerms.sizeMax)

    /// - Parameter wantsTrigrams: false to find words only.
    init(wantsTrigrams: Bool) {
        self.wantsTrigrams = wantsTrigrams
    }

    deinit {
        term.deallocate()
    }

    static func isLong(_ text: UnsafeRawBufferPointer) -> Bool { text.count > byteCountMax }

    // MARK: Reading

    /// Reads a text. Bytes that are no UTF-8 separate words and have no letters.
    func read(_ text: UnsafeRawBufferPointer) {
        words.removeAll()
        if wantsTrigrams { trigrams.removeAll() }
        waiting = 0
        let ascii = ScalarFoldings.page(0)
        var window = Self.start, letterCount = 0, at = 0
        while at < text.count {
            let folding: ScalarFolding
            let first = text[at]
            if first < 0x80 {
                folding = ascii[Int(first)]
                at &+= 1
            } else {
                let (value, size) = UTF8Scalar.decode(text, at: at)
                folding = ScalarFoldings.folding(of: value)
                at &+= size
            }
            if wantsTrigrams {
                var letters = folding.letters
                while letters != 0 {
                    window = (window << 21 | letters & ScalarFolding.mask) & Self.trigramMask
                    letters >>= 21
                    letterCount &+= 1
                    if letterCount > 1 { trigrams.insert(window) }
                }
            }
            switch folding.role {
            case .letter:
                if waiting != 0 { endRun() }
                words.append(folding.wordLetters)
            case .mark: break
            case .separator:
                if words.isBuilding { words.end() }
                if waiting != 0 { endRun() }
            case .paired:
                if words.isBuilding { words.end() }
                if waiting != 0 {
                    words.append(waiting)
                    words.append(folding.wordLetters)
                    words.end()
                }
                waiting = folding.wordLetters
            }
        }
        if words.isBuilding { words.end() }
        if waiting != 0 { endRun() }
        guard wantsTrigrams else { return }
        // The end closes the last trigram, and stands with the last letter alone.
        trigrams.insert((window << 21 | Self.end) & Self.trigramMask)
        if letterCount > 0 { trigrams.insert((window & ScalarFolding.mask) << 21 | Self.end) }
    }

    /// The last letter of a run is a word too, so that a search for one letter finds it.
    private func endRun() {
        words.append(waiting)
        words.end()
        waiting = 0
    }

    // MARK: Terms

    /// Calls `body` with each term of the text that was read, in no order. The bytes are valid during the call.
    @inline(__always)
    func forEachTerm(_ body: (UnsafeRawBufferPointer) -> Void) {
        for index in 0..<trigrams.count { body(Self.term(ofTrigram: trigrams[index], in: term)) }
        let length = WordClass.length(words.total)
        term[0] = Self.wordTag
        for word in words.words {
            let bytes = words.bytes(of: word)
            let size = Self.termSize(of: bytes)
            for index in 0..<size { term[1 &+ index] = bytes[index] }
            term[1 &+ size] = Self.wordEnd
            term[2 &+ size] = WordClass(occurrences: word.occurrences, length: length).rawValue
            body(UnsafeRawBufferPointer(start: term, count: size &+ 3))
        }
    }

    /// - Parameter bytes: has room for 12 bytes.
    @inline(__always)
    private static func term(ofTrigram trigram: UInt64, in bytes: UnsafeMutablePointer<UInt8>) -> UnsafeRawBufferPointer {
        var size = 0
        let first = UInt32(trigram >> 42)
        // The first of two scalars is 0.
        if first != 0 { size = UTF8Scalar.encode(first, to: bytes) }
        size &+= UTF8Scalar.encode(UInt32(trigram >> 21 & ScalarFolding.mask), to: bytes + size)
        size &+= UTF8Scalar.encode(UInt32(trigram & ScalarFolding.mask), to: bytes + size)
        return UnsafeRawBufferPointer(start: bytes, count: size)
    }

    /// Returns the number of a word's bytes in its term: all of them, or as many whole scalars as fit.
    static func termSize(of word: UnsafeRawBufferPointer) -> Int {
        guard word.count > wordSizeMax else { return word.count }
        var size = wordSizeMax
        while word[size] & 0xC0 == 0x80 { size -= 1 }
        return size
    }
}
