import Foundation

/// The relevance of a text to the words of a search: BM25 with the classes of `WordClass`, so that an index and a scan give the same numbers.
///
/// A word that stands for all words with its letters counts for the match, not for the relevance.
struct Relevance {
    /// By word: how much it counts.
    private let weights: [Double]
    private let attributeCount: Int
    /// By attribute: the mean length of the matching texts.
    private var meanLengths: [Double] = []

    /// The usual constants of BM25: how fast repetitions saturate, and how much long texts lose.
    private static let saturation = 1.2, lengthShare = 0.75

    /// - Parameters:
    ///   - counts: by word: the number of texts with it, in all attributes and entities of the search.
    ///   - total: the number of all objects.
    init(_ query: WordQuery, attributeCount: Int, counts: [Int], total: Int) {
        self.attributeCount = attributeCount
        weights = zip(query.words, counts).map { word, count in
            word.isPrefix ? 0 : log(1 + (Double(max(total, count) - count) + 0.5) / (Double(count) + 0.5))
        }
    }

    /// Whether all matches have the same relevance.
    var isConstant: Bool { weights.allSatisfy { $0 == 0 } }

    /// Scores matches.
    /// - Parameter classes: for each match and each word the class in each attribute; 0 where the word does not occur there.
    mutating func scores(_ classes: [UInt8]) -> [Double] {
        let stride = weights.count * attributeCount
        guard stride > 0 else { return [] }
        var sums = [Double](repeating: 0, count: attributeCount), counts = sums
        for (index, byte) in classes.enumerated() {
            guard let found = WordClass(rawValue: byte) else { continue }
            sums[index % attributeCount] += found.length
            counts[index % attributeCount] += 1
        }
        meanLengths = zip(sums, counts).map { $1 == 0 ? 1 : $0 / $1 }
        // Few classes exist, so each one's share is computed once.
        let shares = (0..<attributeCount).map { attribute in (0...UInt8.max).map { share(WordClass(rawValue: $0), attribute) } }
        var scores: [Double] = []
        scores.reserveCapacity(classes.count / stride)
        for start in Swift.stride(from: 0, to: classes.count, by: stride) {
            var score = 0.0
            for word in weights.indices where weights[word] != 0 {
                for attribute in 0..<attributeCount {
                    score += weights[word] * shares[attribute][Int(classes[start + word * attributeCount + attribute])]
                }
            }
            scores.append(score)
        }
        return scores
    }

    private func share(_ found: WordClass?, _ attribute: Int) -> Double {
        guard let found else { return 0 }
        let length = 1 - Self.lengthShare + Self.lengthShare * found.length / meanLengths[attribute]
        return found.occurrences * (Self.saturation + 1) / (found.occurrences + Self.saturation * length)
    }
}
