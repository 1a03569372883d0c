import Foundation
import RecordLog

/// Arithmetic over number columns and constants without a `PredicateValue` for each step. The rules are those of `PredicateNumber`.
protocol NumberExpression: RowExpression {
    /// - Returns: nil for null.
    func number(_ row: UnsafeRowView) -> PredicateNumber?
}

extension NumberExpression {
    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue { number(row)?.value ?? .null }
}

final class NumberConstant: NumberExpression {
    private let constant: PredicateNumber?

    init(_ constant: PredicateNumber?) {
        self.constant = constant
    }

    func number(_ row: UnsafeRowView) -> PredicateNumber? { constant }
}

final class NumberColumn: NumberExpression {
    private let runtime: EntityRuntime
    private let layouts: EntityRuntime.Layouts
    private let property: Int
    private let isInteger: Bool

    /// - Returns: nil for a column of another kind.
    init?(_ runtime: EntityRuntime, _ property: Int) {
        let codec = runtime.properties[property].kind.codec
        guard codec?.number != nil, let raw = codec?.raw, raw != .decimal else { return nil }
        isInteger = raw == .integer
        self.runtime = runtime
        layouts = runtime.layouts
        self.property = property
    }

    func number(_ row: UnsafeRowView) -> PredicateNumber? {
        guard let access = layouts.access(property, in: row) else { return nil }
        return isInteger ? .integer(row.int64(access)) : .double(row.double(access))
    }
}

final class NumberCombination: NumberExpression {
    private let function: PredicateFunction
    private let left: any NumberExpression
    private let right: any NumberExpression

    init(_ function: PredicateFunction, _ left: any NumberExpression, _ right: any NumberExpression) {
        self.function = function
        self.left = left
        self.right = right
    }

    func number(_ row: UnsafeRowView) -> PredicateNumber? {
        guard let a = left.number(row), let b = right.number(row) else { return nil }
        return PredicateNumber.combine(function, a, b)
    }
}

/// Compares two numbers by the rules of predicates in memory.
final class NumberFilter: RowFilter {
    private let comparison: PredicateNode.Comparison
    private let order: ComparisonOperator
    private let left: any NumberExpression
    private let right: any NumberExpression
    private let condition: IndexCondition?

    init(
        _ comparison: PredicateNode.Comparison, _ order: ComparisonOperator, _ left: any NumberExpression, _ right: any NumberExpression,
        _ condition: IndexCondition?
    ) {
        self.condition = condition
        self.comparison = comparison
        self.order = order
        self.left = left
        self.right = right
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        let a = left.number(row), b = right.number(row)
        switch (a, b) {
        case (.integer(let x), .integer(let y)): return order.holds(x, y)
        case (.double(let x), .double(let y)) where !x.isNaN && !y.isNaN: return order.holds(x, y)
        default: return try comparison.holds(a?.value ?? .null, b?.value ?? .null)
        }
    }

    override var weight: Int { 3 }
    override var indexCondition: IndexCondition? { condition }
}

extension PredicateCompiler {
    /// - Returns: nil where a part is more than a number column, a number or arithmetic.
    func numbers(_ comparison: PredicateNode.Comparison, _ condition: IndexCondition?) -> RowFilter? {
        guard let order = comparison.comparison.order, let left = number(comparison.left), let right = number(comparison.right) else {
            return nil
        }
        return NumberFilter(comparison, order, left, right, condition)
    }

    func number(_ node: ExpressionNode) -> (any NumberExpression)? {
        switch node {
        case .constant(.null): return NumberConstant(nil)
        case .constant(let value): return PredicateNumber(value).map(NumberConstant.init)
        case .keyPath(let keys):
            guard keys.count == 1, let index = table.runtime.index(of: keys[0]), !table.runtime.properties[index].isTransient
            else { return nil }
            return NumberColumn(table.runtime, index)
        case .call(let function, let arguments):
            switch function {
            case .add, .subtract, .multiply, .divide, .modulus, .power: break
            default: return nil
            }
            guard arguments.count == 2, let left = number(arguments[0]), let right = number(arguments[1]) else { return nil }
            return NumberCombination(function, left, right)
        default: return nil
        }
    }
}
