import RecordLog

/// A comparison of a column with a parameter. It tests rows with the arguments at hand; a plan that is kept compiles it again for others.
final class ParameterFilter: ColumnFilter {
    let parameter: Parameter
    /// The test with the arguments at hand.
    let test: RowFilter
    private let condition: IndexCondition?

    /// - Returns: nil for an argument of another type than the column's, or an object that the store does not have.
    init?(_ parameter: Parameter, _ binding: PlanBinding) {
        guard let test = parameter.filter(binding) else { return nil }
        let (condition, isOther) = parameter.condition(binding)
        guard !isOther else { return nil }
        (self.parameter, self.test, self.condition) = (parameter, test, condition)
        super.init(binding.table.runtime, parameter.property)
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool { try test.matches(row, scope) }

    override func filter(_ rows: UnsafeMutableBufferPointer<UnsafeRowView>, _ scope: QueryScope) throws -> Int { try test.filter(rows, scope) }

    override var indexCondition: IndexCondition? { condition }
    override var textCondition: TextCondition? { test.textCondition }
    override var weight: Int { test.weight }
    override var withoutParameters: RowFilter { test }
    override func bound(_ binding: PlanBinding) -> RowFilter? { parameter.filter(binding) }
}

/// Compiles the comparisons of a format with parameters in the place of its arguments.
extension PredicateCompiler {
    /// - Returns: nil where a part is more than a comparison of a column of the table, or of one at the other end of one relationship, or an argument
    ///   is not of its column's type. Such a fetch is compiled from its tree.
    func compile(_ arguments: PredicateTree, _ scope: QueryScope) -> RowFilter? {
        guard let conditions = arguments.conditions, !conditions.isEmpty, let view else { return nil }
        let binding = PlanBinding(arguments: arguments, table: table, view: view, scope: scope)
        if conditions.count == 1, conditions[0].keys.count == 2 { return related(conditions[0], binding) }
        var tests: [RowFilter] = []
        for condition in conditions {
            guard condition.keys.count == 1, condition.comparison.modifier == .direct, let test = test(condition, binding) else { return nil }
            tests.append(test)
        }
        return AllFilter.of(tests)
    }

    private func test(_ condition: FormatTemplate.Condition, _ binding: PlanBinding) -> RowFilter? {
        guard condition.argument != nil else {
            return compile(PredicateNode.comparison(condition.comparison).matchingColumns(of: table.runtime.entity))
        }
        guard let property = table.runtime.index(of: condition.keys[condition.keys.count - 1]),
            let parameter = Parameter(condition, property, table.runtime), let test = ParameterFilter(parameter, binding)
        else { return nil }
        if table.hasPartialIndexes, let format = parameter.format(condition, binding.arguments) { test.format = format }
        return test
    }

    private func related(_ condition: FormatTemplate.Condition, _ binding: PlanBinding) -> RowFilter? {
        guard let argument = condition.argument, let index = table.runtime.index(of: condition.keys[0]), !table.runtime.properties[index].isTransient,
            let view
        else { return nil }
        func tests() -> DestinationFilters? {
            destinations(of: index) { other in
                other.test(condition, PlanBinding(arguments: binding.arguments, table: other.table, view: view, scope: binding.scope))
            }
        }
        switch (table.runtime.properties[index].kind, condition.comparison.modifier) {
        case (.toOne, .direct):
            guard let tests = tests(), let whenNull = Self.whenNull(condition.comparison, binding.arguments.value(argument)) else { return nil }
            return ToOneFilter(table.runtime, index, tests, whenNull: whenNull)
        case (.toMany, .any): return source(index).flatMap { source in tests().map { AnyMemberFilter(source, $0) } }
        default: return nil
        }
    }
}
