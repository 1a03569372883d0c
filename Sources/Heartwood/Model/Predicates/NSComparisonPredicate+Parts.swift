import Foundation

extension NSComparisonPredicate {
    /// Compares two expressions. If it cannot be evaluated (a list of three values for BETWEEN, a regular expression that does not compile, a tree
    /// of more than 400 levels), a fetch throws and `evaluate(with:)` traps.
    public convenience init(
        leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier, type: Operator, options: Options = []
    ) {
        let comparison = PredicateNode.Comparison(
            left: leftExpression.node, comparison: PredicateNode.Operator(type), right: rightExpression.node,
            modifier: PredicateNode.Modifier(modifier), options: PredicateNode.Options(rawValue: Int(options.rawValue & 15)))
        let node = comparison.fault.map(PredicateNode.fault) ?? .comparison(comparison)
        self.init(body: PredicateTree(node, depth: 1 + max(leftExpression.depth, rightExpression.depth)))
    }

    /// nil for a comparison that is a fault.
    private var comparison: PredicateNode.Comparison? {
        if case .comparison(let comparison) = statedNode { return comparison }
        return nil
    }

    public final var leftExpression: NSExpression { NSExpression(node: comparison?.left ?? .constant(.null)) }
    public final var rightExpression: NSExpression { NSExpression(node: comparison?.right ?? .constant(.null)) }

    public final var comparisonPredicateModifier: Modifier {
        switch comparison?.modifier ?? .direct {
        case .direct: .direct
        case .any: .any
        case .all: .all
        }
    }

    public final var predicateOperatorType: Operator {
        switch comparison?.comparison ?? .equal {
        case .equal: .equalTo
        case .notEqual: .notEqualTo
        case .less: .lessThan
        case .lessOrEqual: .lessThanOrEqualTo
        case .greater: .greaterThan
        case .greaterOrEqual: .greaterThanOrEqualTo
        case .between: .between
        case .isIn: .in
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .like: .like
        case .matches: .matches
        }
    }

    public final var options: Options { Options(rawValue: UInt(comparison?.options.rawValue ?? 0)) }
}

extension PredicateNode.Operator {
    fileprivate init(_ type: NSComparisonPredicate.Operator) {
        self = switch type {
        case .lessThan: .less
        case .lessThanOrEqualTo: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEqualTo: .greaterOrEqual
        case .equalTo: .equal
        case .notEqualTo: .notEqual
        case .matches: .matches
        case .like: .like
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .in: .isIn
        case .contains: .contains
        case .between: .between
        }
    }
}

extension PredicateNode.Modifier {
    fileprivate init(_ modifier: NSComparisonPredicate.Modifier) {
        self = switch modifier {
        case .direct: .direct
        case .all: .all
        case .any: .any
        }
    }
}
