/// The words that a search for words asks for.
struct WordQuery: Hashable, Sendable {
    struct Word: Hashable, Sendable {
        /// Folded, as UTF-8.
        var bytes: [UInt8]
        /// Whether any word that starts with these letters will do.
        var isPrefix: Bool

        /// Whether the word's term has only its first bytes, so that the index may give more texts than match.
        var isCut: Bool { bytes.count > TextTerms.wordSizeMax }

        func matches(_ word: UnsafeRawBufferPointer) -> Bool {
            guard isPrefix ? word.count >= bytes.count : word.count == bytes.count else { return false }
            return bytes.withUnsafeBytes { $0.elementsEqual(UnsafeRawBufferPointer(rebasing: word.prefix(bytes.count))) }
        }

        /// The terms of texts that have the word.
        var requirement: TermRequirement {
            let size = bytes.withUnsafeBytes(TextTerms.termSize)
            return .prefix([TextTerms.wordTag] + bytes.prefix(size) + (isPrefix ? [] : [TextTerms.wordEnd]))
        }
    }

    /// Each once. All must occur.
    private(set) var words: [Word] = []

    /// Further words of a search are ignored.
    static let countMax = 63

    /// The bits of all words.
    var all: UInt64 { 1 << UInt64(words.count) - 1 }

    /// - Precondition: at most `countMax` words.
    init(words: [Word]) {
        self.words = words
    }

    /// Finds the words in a text. Letters of a script without spaces are asked for by pairs, and one that stands alone as a prefix.
    init(_ text: String, lastIsPrefix: Bool) {
        let found = FoundWord.all(in: text)
        // The last letter of a run is in its last pair.
        for (index, word) in found.enumerated() where !word.followsPair {
            guard words.count < Self.countMax else { break }
            let isPrefix = word.isPaired ? word.letterCount == 1 : lastIsPrefix && index == found.count - 1
            let made = Word(bytes: word.bytes, isPrefix: isPrefix)
            if !words.contains(made) { words.append(made) }
        }
    }

    /// Which of the words a text has, as bits.
    func found(in terms: TextTerms) -> UInt64 {
        var result: UInt64 = 0
        for word in terms.words.words {
            let bytes = terms.words.bytes(of: word)
            for (index, wanted) in words.enumerated() where wanted.matches(bytes) { result |= 1 << UInt64(index) }
        }
        return result
    }

    /// Sets the classes of the words in one attribute: see `Relevance.scores`. A word that is a prefix has none.
    func setClasses(of terms: TextTerms, _ attribute: Int, _ attributeCount: Int, from start: Int, in classes: inout [UInt8]) {
        let length = WordClass.length(terms.words.total)
        for word in terms.words.words {
            let bytes = terms.words.bytes(of: word)
            for (index, wanted) in words.enumerated() where !wanted.isPrefix && wanted.matches(bytes) {
                classes[start + index * attributeCount + attribute] = WordClass(occurrences: word.occurrences, length: length).rawValue
            }
        }
    }
}

/// A word in a text, and its place there.
struct FoundWord {
    /// Folded, as UTF-8.
    var bytes: [UInt8] = []
    /// In the text's UTF-8.
    var range: Range<Int>
    var isPaired = false
    var letterCount = 0
    /// Whether the word is the last letter of a run, which a pair contains.
    var followsPair = false

    /// Returns a text's words in the order of their ends: the same words that `TextTerms` finds.
    static func all(in text: String) -> [FoundWord] {
        var result: [FoundWord] = []
        var word: FoundWord?, letter: FoundWord?
        func end() {
            if let word { result.append(word) }
            if let letter { result.append(letter) }
            (word, letter) = (nil, nil)
        }
        var at = 0
        for scalar in text.unicodeScalars {
            let folding = ScalarFoldings.folding(of: scalar.value), next = at + UTF8.width(scalar)
            defer { at = next }
            switch folding.role {
            case .separator: end()
            case .mark:
                // A mark belongs to the letter before it.
                word?.extend(to: next)
                letter?.extend(to: next)
            case .letter:
                if letter != nil { end() }
                var grown = word ?? FoundWord(range: at..<next)
                grown.append(folding.wordLetters, next)
                word = grown
            case .paired:
                if word != nil { end() }
                if var pair = letter {
                    pair.followsPair = false
                    pair.append(folding.wordLetters, next)
                    result.append(pair)
                }
                var single = FoundWord(range: at..<next, isPaired: true)
                single.append(folding.wordLetters, next)
                single.followsPair = letter != nil
                letter = single
            }
        }
        end()
        return result
    }

    private mutating func extend(to end: Int) { range = range.lowerBound..<end }

    private mutating func append(_ letters: UInt64, _ end: Int) {
        var left = letters
        while left != 0 {
            if let scalar = Unicode.Scalar(UInt32(left & ScalarFolding.mask)) { bytes.append(contentsOf: String(Character(scalar)).utf8) }
            left >>= 21
        }
        letterCount += 1
        extend(to: end)
    }
}
