import RecordLog

/// Comparisons of a composite attribute, which has no column of its own: it is null where none of its elements has a value.
extension PredicateCompiler {
    /// - Returns: nil for what objects alone tell: whether the elements are those of a dictionary.
    func composite(_ elements: [CompositeElement], _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard value.isNull else { return nil }
        guard comparison.comparison == .equal || comparison.comparison == .notEqual else { return ConstantTest(false) }
        var tests: [RowFilter] = []
        for element in elements {
            let path = ExpressionNode.keyPath([table.runtime.properties[element.index].name])
            let part = PredicateNode.Comparison(left: path, comparison: comparison.comparison, right: .constant(.null))
            guard let test = compile(.comparison(part)) else { return nil }
            tests.append(test)
        }
        return comparison.comparison == .equal ? AllTest(tests) : AnyTest(tests)
    }
}
