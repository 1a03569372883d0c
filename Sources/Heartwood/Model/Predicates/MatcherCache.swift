import Synchronization

/// The matcher of a comparison's pattern, kept while the pattern stays the same, since a predicate is evaluated for many objects.
final class MatcherCache {
    // A mutex, since several threads may evaluate one of Foundation's predicates at once.
    private let kept = Mutex<(comparison: PredicateNode.Operator, pattern: String, Box)?>(nil)

    private final class Box: @unchecked Sendable {
        let matcher: TextMatcher?

        init(_ matcher: TextMatcher?) {
            self.matcher = matcher
        }
    }

    /// - Throws: `PredicateFault` for a regular expression that does not compile.
    func matcher(_ comparison: PredicateNode.Operator, _ pattern: String, options: PredicateNode.Options) throws -> TextMatcher? {
        if let (operation, known, box) = kept.withLock({ $0 }), operation == comparison, known.hasSameBytes(as: pattern) {
            return box.matcher
        }
        let box = Box(try TextMatcher(comparison, pattern, options: options))
        kept.withLock { $0 = (comparison, pattern, box) }
        return box.matcher
    }
}
