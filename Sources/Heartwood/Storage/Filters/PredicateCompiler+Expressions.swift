import Foundation
import RecordLog

/// Compiles comparisons of expressions over the columns of a row: arithmetic, functions, column with column.
extension PredicateCompiler {
    /// - Returns: nil where a part is neither a column nor a constant, such as a subquery.
    func expressions(_ comparison: PredicateNode.Comparison) -> RowFilter? {
        guard comparison.modifier == .direct else { return nil }
        let condition = table.hasExpressionIndexes ? indexedExpression(comparison) : nil
        if let test = numbers(comparison, condition) { return test }
        guard let left = expression(comparison.left), let right = expression(comparison.right) else {
            return nil
        }
        return ExpressionFilter(comparison, left, right, condition)
    }

    /// - Returns: nil where a part cannot be computed from a row.
    func expression(_ node: ExpressionNode) -> (any RowExpression)? {
        switch node {
        case .constant(let value): return ConstantExpression(value)
        case .keyPath(let keys):
            guard keys.count == 1, let index = table.runtime.index(of: keys[0]) else { return path(keys[...]) }
            let property = table.runtime.properties[index]
            return property.kind.isComparableInRow && !property.isTransient ? ColumnExpression(table.runtime, index) : nil
        case .call(let function, let arguments):
            if let number = number(node) { return number }
            return expressions(arguments).map { CallExpression(function, $0) }
        case .aggregate(let list): return expressions(list).map(ListExpression.init)
        case .conditional(let predicate, let first, let second):
            guard let test = compile(predicate), let first = expression(first), let second = expression(second) else { return nil }
            return ConditionalExpression(test, first, second)
        case .path, .variable, .set, .subquery, .block, .fault: return nil
        }
    }

    private func expressions(_ nodes: [ExpressionNode]) -> [any RowExpression]? {
        let compiled = nodes.compactMap(expression)
        return compiled.count == nodes.count ? compiled : nil
    }
}

/// Compares two expressions by the rules of predicates in memory.
final class ExpressionFilter: RowFilter {
    private let comparison: PredicateNode.Comparison
    private let left: any RowExpression
    private let right: any RowExpression
    private let condition: IndexCondition?
    /// The members of a long list.
    private let members: MemberTable?

    init(_ comparison: PredicateNode.Comparison, _ left: any RowExpression, _ right: any RowExpression, _ condition: IndexCondition?) {
        self.condition = condition
        self.comparison = comparison
        self.left = left
        self.right = right
        let list = comparison.comparison == .isIn ? comparison.right.constantList : nil
        members = list.flatMap { $0.count > MemberTable.shortMax ? MemberTable($0, comparison.options) : nil }
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        if let members { return try members.contains(try left.value(row, scope), comparison.isEqual) }
        return try comparison.holds(try left.value(row, scope), try right.value(row, scope))
    }

    override var weight: Int { 15 }
    override var indexCondition: IndexCondition? { condition }
}
