import Foundation

/// A search for words in texts, for `NSFetchRequest.textSearch`.
///
/// A word is a run of letters and digits. Words are compared without case and without marks, so "Éclair" finds "eclair". All words must occur, in
/// any order. In scripts without spaces between words (Han, kana, Bopomofo, Thai, Lao, Khmer, Myanmar) each two neighbouring letters are a word,
/// and a letter alone finds the words that start with it.
///
/// A text index of each attribute (`NSFetchIndexElementType.text`) answers the search; without one the fetch scans, with the same result.
public struct TextSearch: Hashable, Sendable {
    /// The words to find. A search without words finds every object. The first 63 words count.
    public var text: String
    /// The attributes of text to search, by name; an element of a composite attribute by its path, such as "address.city". Together they must have
    /// all words. Empty: the attributes that have a text index, or if none has one, all attributes of text.
    public var attributes: [String]
    /// Whether the last word stands for all words that start with it, as while a user types.
    public var matchesLastWordAsPrefix: Bool
    /// Whether the objects come by relevance, the most relevant first; objects of the same relevance in the store's order. Sort descriptors then
    /// have no effect.
    public var sortsByRelevance: Bool

    public init(_ text: String, in attributes: [String] = [], matchesLastWordAsPrefix: Bool = false, sortsByRelevance: Bool = true) {
        self.text = text
        self.attributes = attributes
        self.matchesLastWordAsPrefix = matchesLastWordAsPrefix
        self.sortsByRelevance = sortsByRelevance
    }

    var query: WordQuery { WordQuery(text, lastIsPrefix: matchesLastWordAsPrefix) }

    /// Returns the places of the search's words in a text, in order, without overlaps, for highlighting them.
    /// - Complexity: O(length of the text · number of words).
    public func ranges(in text: String) -> [Range<String.Index>] {
        let words = query.words
        var result: [Range<Int>] = []
        for word in FoundWord.all(in: text) where words.contains(where: { wanted in word.bytes.withUnsafeBytes(wanted.matches) }) {
            if let last = result.last, word.range.lowerBound < last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, word.range.upperBound)
            } else {
                result.append(word.range)
            }
        }
        return result.map { range in
            text.utf8.index(text.startIndex, offsetBy: range.lowerBound)..<text.utf8.index(text.startIndex, offsetBy: range.upperBound)
        }
    }
}
