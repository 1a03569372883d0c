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
        guard index.partial == nil, let attributes = index.attributes else { return nil }
        for attribute in attributes {
            let before = answered.count
            guard bind(attribute.property, conditions) else { return nil }
            // A descending part would need its values complemented.
            if attribute.isDescending, answered.count > before { return nil }
            // Only behind one value the next part's values are a range.
            if answered.count == before || hasBounds { break }
        }
        if answered.isEmpty { return nil }
    }

    private var hasBounds: Bool { lower != nil || upper != nil || prefix != nil }

    /// Binds one part.
    /// - Returns: false for several conditions of one kind, whose arguments would have to be compared.
    private mutating func bind(_ property: Int, _ conditions: [PreparedCondition]) -> Bool {
        var equal: Int?, bounds: [Int] = []
        for position in conditions.indices where conditions[position].property == property {
            let condition = conditions[position]
            if condition.isEquality {
                guard equal == nil else { return false }
                equal = position
            } else if condition.isLowerBound || condition.isUpperBound || condition.isPrefix {
                bounds.append(position)
            }
        }
        if let equal {
            equalities.append(conditions[equal])
            answered.append(equal)
            return true
        }
        for position in bounds {
            let condition = conditions[position]
            if condition.isPrefix {
                guard bounds.count == 1 else { return false }
                prefix = condition
            } else if condition.isLowerBound {
                guard lower == nil else { return false }
                lower = condition
            } else {
                guard upper == nil else { return false }
                upper = condition
            }
            answered.append(position)
        }
        return true
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
