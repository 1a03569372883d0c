import Heartwood

/// A comparison of a column with values that holds for every row that a predicate holds for.
struct RequiredComparison {
    let property: Int
    /// Equality, an order, or IN.
    let comparison: PredicateNode.Operator
    /// One value, or those of a list.
    let values: [PredicateValue]

    /// The comparisons that a predicate joins by AND, with the column on the left.
    static func all(in node: PredicateNode?, _ runtime: EntityRuntime) -> [RequiredComparison] {
        switch node {
        case .and(let parts)?: parts.flatMap { all(in: $0, runtime) }
        case .comparison(let comparison)? where comparison.modifier == .direct && comparison.options.isEmpty: all(in: comparison, runtime)
        default: []
        }
    }

    private static func all(in node: PredicateNode.Comparison, _ runtime: EntityRuntime) -> [RequiredComparison] {
        func made(_ keys: [String], _ comparison: PredicateNode.Operator?, _ values: [PredicateValue]?) -> [RequiredComparison] {
            guard let comparison, let values, keys.count == 1, let property = runtime.index(of: keys[0]) else { return [] }
            return [RequiredComparison(property: property, comparison: comparison, values: values)]
        }
        switch (node.left, node.comparison, node.right) {
        case (.keyPath(let keys), .isIn, .constant(let value)): return made(keys, .isIn, value.members)
        case (.keyPath(let keys), .isIn, .aggregate(let list)): return made(keys, .isIn, list.constants)
        case (.keyPath(let keys), .between, .aggregate(let list)) where list.count == 2:
            return zip([PredicateNode.Operator.greaterOrEqual, .lessOrEqual], list).flatMap { made(keys, $0, [$1].constants) }
        case (.keyPath(let keys), let comparison, .constant(let value)) where comparison.order != nil: return made(keys, comparison, [value])
        case (.constant(let value), let comparison, .keyPath(let keys)) where comparison.order != nil: return made(keys, comparison.mirrored, [value])
        default: return []
        }
    }
}
