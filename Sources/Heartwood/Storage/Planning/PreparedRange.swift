import RecordLog

/// The conditions that bind the leading parts of an index, from which arguments make ranges of keys.
struct PreparedRange {
    /// A condition on one part.
    private struct Part {
        let condition: PreparedCondition
        let isDescending: Bool
    }

    /// A value for each part from the first on; one of them may be a list of values.
    private var equalities: [Part] = []
    /// The position of the list in `equalities`.
    private var list: Int?
    /// The bounds of the next part.
    private var lower: PreparedCondition?
    private var upper: PreparedCondition?
    private var prefix: PreparedCondition?
    private var boundIsDescending = false
    /// The indexes of the conditions that the range answers.
    private(set) var answered: [Int] = []

    /// Binds the parts of an index as `QueryPlanner.indexScan` does.
    /// - Returns: nil where the conditions bind no part, or the planner could combine them in another way.
    init?(_ index: TableIndex, _ conditions: [PreparedCondition]) {
        guard index.partial == nil, let attributes = index.attributes else { return nil }
        for attribute in attributes {
            let before = answered.count
            guard bind(attribute.property, attribute.isDescending, conditions) else { return nil }
            // Only behind one value the next part's values are a range.
            if answered.count == before || hasBounds { break }
        }
        if answered.isEmpty { return nil }
    }

    private var hasBounds: Bool { lower != nil || upper != nil || prefix != nil }

    /// Binds one part.
    /// - Returns: false for several conditions of one kind, whose arguments would have to be compared.
    private mutating func bind(_ property: Int, _ isDescending: Bool, _ conditions: [PreparedCondition]) -> Bool {
        var equal: Int?, bounds: [Int] = []
        for position in conditions.indices where conditions[position].property == property {
            let condition = conditions[position]
            if condition.isEquality || condition.isList {
                guard equal == nil else { return false }
                equal = position
            } else if condition.isLowerBound || condition.isUpperBound || condition.isPrefix {
                bounds.append(position)
            }
        }
        if let equal {
            if conditions[equal].isList {
                guard list == nil else { return false }
                list = equalities.count
            }
            equalities.append(Part(condition: conditions[equal], isDescending: isDescending))
            answered.append(equal)
            return true
        }
        boundIsDescending = isDescending
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

    /// Returns the ranges of keys for arguments, ascending.
    /// - Parameter key: a buffer.
    /// - Returns: nil for an argument of another type than its column's.
    func keys(_ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView, _ key: KeyBuilder) -> [KeyRange]? {
        guard let list else { return keys(nil, tree, runtime, view, key).map { [$0] } }
        let condition = equalities[list].condition
        guard condition.takes(tree) else { return nil }
        var ranges: [KeyRange] = []
        for member in condition.members(tree) {
            guard let range = keys(member, tree, runtime, view, key) else { return nil }
            ranges.append(range)
        }
        let sorted = KeyRange.sorted(ranges)
        return sorted.enumerated().compactMap { $0 > 0 && sorted[$0 - 1] == $1 ? nil : $1 }
    }

    /// - Parameter member: the list's value.
    private func keys(
        _ member: PredicateValue?, _ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView, _ key: KeyBuilder
    ) -> KeyRange? {
        key.removeAll()
        for position in equalities.indices {
            let descending = equalities[position].isDescending
            let isAppended = if position == list, let member {
                equalities[position].condition.append(member, to: key, descending: descending, runtime, view)
            } else {
                equalities[position].condition.append(to: key, descending: descending, tree, runtime, view)
            }
            guard isAppended else { return nil }
        }
        if let prefix { guard prefix.append(to: key, descending: boundIsDescending, tree, runtime, view) else { return nil } }
        guard lower != nil || upper != nil else { return .prefix(key.bytes) }
        return bounded(tree, runtime, view, key)
    }

    /// - Parameter key: the values before the bounds.
    private func bounded(_ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView, _ key: KeyBuilder) -> KeyRange? {
        // In a descending part greater values come first.
        let (first, last) = boundIsDescending ? (upper, lower) : (lower, upper)
        let start = key.count
        var range = KeyRange()
        guard appendBound(first, isLower: !boundIsDescending, tree, runtime, view, key) else { return nil }
        range.lower = first?.isOpen == true ? KeyRange.successor(of: key.bytes) : key.bytes
        key.truncate(to: start)
        guard appendBound(last, isLower: boundIsDescending, tree, runtime, view, key) else { return nil }
        range.upper = last?.isOpen == true ? key.bytes : KeyRange.successor(of: key.bytes)
        return range
    }

    /// Appends the value of a bound; without one the least value, or the start of every value.
    private func appendBound(
        _ bound: PreparedCondition?, isLower: Bool, _ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView, _ key: KeyBuilder
    ) -> Bool {
        if let bound { return bound.append(to: key, descending: boundIsDescending, tree, runtime, view) }
        if isLower, let upper {
            upper.appendLeast(to: key, descending: boundIsDescending)
        } else {
            key.append(textPrefix: "", descending: boundIsDescending)
        }
        return true
    }
}
