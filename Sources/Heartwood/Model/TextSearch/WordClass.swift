/// How often a word occurs in a text, and how many words the text has, both rounded, in one byte. A word's term ends with it, so that texts can
/// be ordered by relevance without reading them. Stored: the numbers of a byte never change.
struct WordClass {
    /// From 16 on, so that a class is no other byte of a term. Four bits for the length, and two above for the occurrences.
    let rawValue: UInt8

    private static let first: UInt8 = 16
    /// The greatest number of words in a text of each length class but the last.
    private static let lengths = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 1024]
    /// The number of words for which a length class counts.
    private static let meanLengths: [Double] = [1, 2, 3, 4, 5.5, 7.5, 10.5, 14.5, 20.5, 28.5, 40.5, 56.5, 96.5, 192.5, 640.5, 4096]
    private static let meanOccurrences: [Double] = [1, 2, 3, 5]

    /// Returns the length class of a text with this number of words.
    static func length(_ wordCount: Int) -> Int { lengths.firstIndex { wordCount <= $0 } ?? lengths.count }

    init(occurrences: Int, length: Int) {
        rawValue = Self.first + UInt8(min(max(occurrences, 1), 4) - 1) << 4 + UInt8(length)
    }

    /// - Returns: nil for a byte that is no class.
    init?(rawValue: UInt8) {
        guard rawValue >= Self.first, rawValue < Self.first + 64 else { return nil }
        self.rawValue = rawValue
    }

    var occurrences: Double { Self.meanOccurrences[Int(rawValue - Self.first) >> 4] }
    var length: Double { Self.meanLengths[Int(rawValue - Self.first) & 15] }
    var lengthClass: Int { Int(rawValue - Self.first) & 15 }
}
