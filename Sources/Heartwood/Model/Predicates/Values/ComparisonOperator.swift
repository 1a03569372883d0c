/// A comparison of two ordered values.
package enum ComparisonOperator: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    @inline(__always)
    func holds<Value: Comparable>(_ a: Value, _ b: Value) -> Bool {
        switch self {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .lessOrEqual: a <= b
        case .greater: a > b
        case .greaterOrEqual: a >= b
        }
    }

    /// The operator with its sides exchanged.
    var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension PredicateNode.Operator {
    /// The comparison that the operator makes; nil for an operator of another kind.
    package var order: ComparisonOperator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        default: nil
        }
    }

    /// The operator with its sides exchanged; nil for an operator that does not compare by order.
    package var mirrored: PredicateNode.Operator? {
        guard let mirrored = order?.mirrored else { return nil }
        return Self.allCases.first { $0.order == mirrored }
    }
}
