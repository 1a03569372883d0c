import Foundation
import RecordLog

/// Compiles `SUBQUERY(members, $x, …).@count` compared with a constant.
extension PredicateCompiler {
    func memberCount(
        _ keys: [String], _ variable: String, _ predicate: PredicateNode, _ comparison: PredicateNode.Comparison, _ value: PredicateValue
    ) -> RowFilter? {
        guard comparison.modifier == .direct, keys.count == 1, let index = table.runtime.index(of: keys[0]),
            let source = source(index), let found = comparison.comparison.order, case .integer(let count) = value,
            let inner = predicate.asked(of: variable)
        else { return nil }
        return destinations(of: index) { $0.compile(inner) }.map { MatchCountFilter(source, $0, found, count) }
    }
}

/// Compares the number of a to-many relationship's members that meet a condition with a constant.
final class MatchCountFilter: RowFilter {
    private let source: MemberSources
    private let destinations: DestinationFilters
    private let comparison: ComparisonOperator
    private let constant: Int64

    init(_ source: MemberSources, _ destinations: DestinationFilters, _ comparison: ComparisonOperator, _ constant: Int64) {
        self.source = source
        self.destinations = destinations
        self.comparison = comparison
        self.constant = constant
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        var count: Int64 = 0
        try scope.forEachMember(of: row.reference, in: source) { member in
            if try destinations.matches(member, scope) { count += 1 }
            return true
        }
        return comparison.holds(count, constant)
    }

    override var weight: Int { 60 }
    override var hasTargets: Bool { true }

    override func resolved(_ lookup: SemiJoin) throws -> RowFilter {
        guard let searches = try lookup.searches(destinations) else { return self }
        var counts = MemberCounts(limit: lookup.rowLimit)
        try lookup.forEachOwner(of: searches, in: source) { counts.add($0) }
        return try counts.test(comparison, constant, lookup)
    }
}

extension PredicateNode {
    /// Rewrites a subquery's predicate so that its variable becomes the evaluated object; nil where the predicate also uses the outer object.
    fileprivate func asked(of variable: String) -> PredicateNode? {
        var asksOuter = false
        // Parts are rewritten before the expression that contains them, so the variable still exists when its path is visited.
        let result = rewriting { expression, bound in
            switch expression {
            case .keyPath(let keys):
                asksOuter = true
                return .keyPath(keys)
            case .path(.variable(variable), let keys) where !bound.contains(variable): return .keyPath(keys)
            case .subquery:
                asksOuter = true
                return expression
            default: return expression
            }
        }
        guard !asksOuter else { return nil }
        return result.rewriting { expression, _ in
            if case .variable(variable) = expression { return .keyPath([]) }
            return expression
        }
    }
}
