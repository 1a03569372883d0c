/// Finds the name that a misspelled one was probably meant to be.
package enum Spelling {
    /// The number of letters to insert, to delete, to replace, and of neighbours to exchange, that make one text of the other.
    /// Source: the optimal string alignment distance, after F. J. Damerau, "A technique for computer detection and correction of spelling
    /// errors", Communications of the ACM 7 (1964).
    /// - Complexity: O(the product of the lengths).
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.unicodeScalars), right = Array(right.unicodeScalars)
        var before: [Int] = [], last = Array(0...right.count)
        for row in 0..<left.count {
            var next = [row + 1]
            for column in 0..<right.count {
                var least = min(last[column + 1] + 1, next[column] + 1, last[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] { least = min(least, before[column - 1] + 1) }
                next.append(least)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }

    /// - Returns: nil if no name is like the word.
    package static func closest(to word: String, among names: some Sequence<String>) -> String? {
        // A long word, which a caller may have given for something else, is like no name.
        guard word.utf8.count <= 100 else { return nil }
        let folded = word.lowercased()
        let found = names.map { (name: $0, distance: distance(folded, $0.lowercased())) }.min { $0.distance < $1.distance }
        guard let found, found.distance <= max(1, word.count / 3), found.distance < word.count else { return nil }
        return found.name
    }

    /// A question behind an error's text; empty if no name is like the word.
    package static func suggestion(for word: String, among names: some Sequence<String>) -> String {
        closest(to: word, among: names).map { " (did you mean \($0)?)" } ?? ""
    }
}
