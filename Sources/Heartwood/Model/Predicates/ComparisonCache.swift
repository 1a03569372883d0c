import Synchronization

/// What a comparison keeps while its constant side stays the same, since a predicate is evaluated for many objects: the matcher of a pattern, or
/// the members of a list by their hashes.
final class ComparisonCache {
    private enum Kept {
        case matcher(KeptMatcher)
        case list(KeptList)
    }

    // A mutex, since several threads may evaluate one of Foundation's predicates at once.
    private let kept = Mutex<Kept?>(nil)

    private final class KeptMatcher: @unchecked Sendable {
        let comparison: PredicateNode.Operator
        let pattern: String
        let matcher: TextMatcher?

        init(_ comparison: PredicateNode.Operator, _ pattern: String, _ matcher: TextMatcher?) {
            (self.comparison, self.pattern, self.matcher) = (comparison, pattern, matcher)
        }
    }

    private final class KeptList: @unchecked Sendable {
        private let list: [PredicateValue]
        /// nil for a list that was seen once: one evaluation is done sooner without.
        let table: MemberTable?

        init(_ list: [PredicateValue], _ table: MemberTable?) { (self.list, self.table) = (list, table) }

        /// Whether it is the same array, and not only an equal one. The list is held, so no other one has its address.
        func isSame(_ other: [PredicateValue]) -> Bool {
            list.count == other.count
                && list.withUnsafeBufferPointer { own in other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress } }
        }
    }

    /// - Throws: `PredicateFault` for a regular expression that does not compile.
    func matcher(_ comparison: PredicateNode.Operator, _ pattern: String, options: PredicateNode.Options) throws -> TextMatcher? {
        if case .matcher(let known)? = kept.withLock({ $0 }), known.comparison == comparison, known.pattern.hasSameBytes(as: pattern) {
            return known.matcher
        }
        let made = KeptMatcher(comparison, pattern, try TextMatcher(comparison, pattern, options: options))
        kept.withLock { $0 = .matcher(made) }
        return made.matcher
    }

    /// The members of a constant list by their hashes; nil for a short list, and when the list is seen for the first time.
    func members(_ list: [PredicateValue], _ options: PredicateNode.Options) -> MemberTable? {
        guard list.count > MemberTable.shortMax else { return nil }
        var isKnown = false
        if case .list(let known)? = kept.withLock({ $0 }), known.isSame(list) {
            if let table = known.table { return table }
            isKnown = true
        }
        let made = KeptList(list, isKnown ? MemberTable(list, options) : nil)
        kept.withLock { $0 = .list(made) }
        return made.table
    }
}
