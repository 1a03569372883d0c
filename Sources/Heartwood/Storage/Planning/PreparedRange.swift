import RecordLog

/// The conditions that bind the leading parts of an index, from which arguments make a range of keys.
struct PreparedRange {
    /// A value for each part from the first on.
    private var equalities: [PreparedCondition] = []
    /// The bounds of the next part.
    private var lower: PreparedCondition?
    private var upper: PreparedCondition?
    private var prefix: PreparedCondition?
    /// The indexes of the conditions that the range answers.
    private(set) var answered: [Int] = []

    /// Binds the parts of an index as `QueryPlanner.indexScan` does.
    /// - Returns: nil where the conditions bind no part, or the planner could combine them in another way.
    init?(_ index: TableIndex, _ conditions: [PreparedCondition]) {
        guard index.partial == nil else { return nil }
        for part in index.parts {
            let here = conditions.indices.filter { conditions[$0].property == part.property }
            let equal = here.filter { conditions[$0].isEquality }
            let bounds = here.filter { conditions[$0].isLowerBound || conditions[$0].isUpperBound || conditions[$0].isPrefix }
            if equal.isEmpty && bounds.isEmpty { break }
            // Several conditions of one kind would need a comparison of their arguments.
            guard part.isAscending, equal.count < 2 else { return nil }
            if let only = equal.first {
                equalities.append(conditions[only])
                answered.append(only)
                continue
            }
            for position in bounds {
                let condition = conditions[position]
                if condition.isPrefix {
                    guard bounds.count == 1 else { return nil }
                    prefix = condition
                } else if condition.isLowerBound {
                    guard lower == nil else { return nil }
                    lower = condition
                } else {
                    guard upper == nil else { return nil }
                    upper = condition
                }
                answered.append(position)
            }
            break
        }
        if answered.isEmpty { return nil }
    }

    /// Returns the range of keys for arguments.
    /// - Parameter key: a buffer.
    /// - Returns: nil for an argument of another type than its column's.
    func keys(_ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView, _ key: KeyBuilder) -> KeyRange? {
        key.removeAll()
        for condition in equalities { guard condition.append(to: key, tree, runtime, view) else { return nil } }
        if let prefix { guard prefix.append(to: key, tree, runtime, view) else { return nil } }
        guard lower != nil || upper != nil else { return .prefix(key.bytes) }
        let start = key.count
        var range = KeyRange()
        if let lower {
            guard lower.append(to: key, tree, runtime, view) else { return nil }
            range.lower = lower.comparison == .greater ? KeyRange.successor(of: key.bytes) : key.bytes
        } else {
            upper?.appendLeast(to: key)
            range.lower = key.bytes
        }
        key.truncate(to: start)
        if let upper {
            guard upper.append(to: key, tree, runtime, view) else { return nil }
            range.upper = upper.comparison == .less ? key.bytes : KeyRange.successor(of: key.bytes)
        } else {
            // The start of every value.
            key.append(textPrefix: "")
            range.upper = KeyRange.successor(of: key.bytes)
        }
        return range
    }
}
