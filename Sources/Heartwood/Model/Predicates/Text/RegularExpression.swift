import Foundation

/// A regular expression that matches whole texts in a bounded number of steps.
final class RegularExpression {
    private let pattern: String
    private let expression: NSRegularExpression

    /// Foundation's matcher reports progress about every ten thousand steps. It is stopped after this many reports plus one for each hundred
    /// characters. Only patterns with nested repetitions get that far.
    private static let progressMin = 200

    /// - Throws: `PredicateFault` if the pattern does not compile.
    init(_ pattern: String, options: PredicateNode.Options) throws {
        self.pattern = pattern
        let flags: NSRegularExpression.Options = options.contains(.caseInsensitive) ? [.caseInsensitive] : []
        let source = options.contains(.diacriticInsensitive) ? TextMatcher.fold(pattern, [.diacriticInsensitive]) : pattern
        do {
            _ = try NSRegularExpression(pattern: source, options: flags)
            // Anchors the end of every alternative. A comment at the pattern's end needs a line break before the parenthesis.
            expression = try (try? NSRegularExpression(pattern: "(?:\(source))\\z", options: flags))
                ?? NSRegularExpression(pattern: "(?:\(source)\n)\\z", options: flags)
        } catch {
            throw PredicateFault(reason: "The regular expression \"\(pattern)\" does not compile")
        }
    }

    /// - Throws: `PredicateFault` if the pattern takes too many steps on this text.
    func matches(_ text: String) throws -> Bool {
        var isMatch = false, progress = 0
        let progressMax = Self.progressMin + text.utf16.count / 100
        expression.enumerateMatches(
            in: text, options: [.anchored, .reportProgress], range: NSRange(location: 0, length: text.utf16.count)
        ) { result, _, stop in
            if result != nil {
                isMatch = true
                stop.pointee = true
            } else {
                progress += 1
                if progress >= progressMax { stop.pointee = true }
            }
        }
        guard isMatch || progress < progressMax else {
            throw PredicateFault(
                reason: "The regular expression \"\(pattern)\" was given up on a text of \(text.utf8.count) bytes: it tries too many "
                    + "ways to match. Write it without repetitions inside repetitions.")
        }
        return isMatch
    }
}
