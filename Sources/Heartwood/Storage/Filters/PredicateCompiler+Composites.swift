import RecordLog

/// Compiles comparisons of a composite attribute. It has no column of its own, and is null where all its elements are.
extension PredicateCompiler {
    /// - Returns: nil for a comparison that only objects can evaluate: with a dictionary.
    func composite(_ elements: [CompositeElement], _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard value.isNull else { return nil }
        guard comparison.comparison == .equal || comparison.comparison == .notEqual else { return ConstantFilter(false) }
        var tests: [RowFilter] = []
        for element in elements {
            let path = ExpressionNode.keyPath([table.runtime.properties[element.index].name])
            let part = PredicateNode.Comparison(left: path, comparison: comparison.comparison, right: .constant(.null))
            guard let test = compile(.comparison(part)) else { return nil }
            tests.append(test)
        }
        return comparison.comparison == .equal ? AllFilter(tests) : AnyFilter(tests)
    }
}
