import Foundation
import Heartwood

/// What every transaction that a predicate chooses fulfils, as far as the store can be asked for it.
///
/// The predicate is evaluated on each transaction that the store returns, so a part that is not understood costs time and nothing else.
struct HistoryBounds {
    /// Transactions after this position.
    var after: DefaultHistoryToken?
    /// Transactions up to this position.
    var upTo: DefaultHistoryToken?
    /// Tokens that the predicate compares with, all of which must be of the history.
    var tokens: [DefaultHistoryToken] = []
    /// Conditions on the properties that the store knows.
    var conditions: [NSPredicate] = []

    init<Transaction: HistoryTransaction>(_ predicate: Predicate<Transaction>?) {
        guard let predicate else { return }
        read(predicate.expression, predicate.variable.key)
    }

    private mutating func read(_ expression: any PredicateExpression, _ variable: PredicateExpressions.VariableID) {
        if let both = expression as? any ConjunctionExpression {
            for part in both.parts { read(part, variable) }
        } else if let comparison = expression as? any ComparingExpression {
            let (left, right) = comparison.sides
            if let name = Self.property(left, variable), let value = Self.constant(right) {
                take(name, comparison.comparison, value)
            } else if let name = Self.property(right, variable), let value = Self.constant(left) {
                take(name, comparison.comparison.mirrored, value)
            }
        }
    }

    private static func property(
        _ expression: any PredicateExpression, _ variable: PredicateExpressions.VariableID
    ) -> PartialKeyPath<DefaultHistoryTransaction>? {
        guard let path = expression as? any KeyPathExpression, path.isOf(variable) else { return nil }
        return path.anyKeyPath as? PartialKeyPath<DefaultHistoryTransaction>
    }

    private static func constant(_ expression: any PredicateExpression) -> Any? {
        (try? expression.evaluate(PredicateBindings())).flatMap(Unwrapping.value)
    }

    private mutating func take(_ property: PartialKeyPath<DefaultHistoryTransaction>, _ comparison: Comparison, _ value: Any) {
        switch value {
        case let token as DefaultHistoryToken where property == \.token: take(token, comparison)
        case let text as String where property == \.author: take("author", comparison, text)
        case let text as String where property == \.storeIdentifier: take("storeID", comparison, text)
        case let text as String where property == \.bundleIdentifier: take("bundleID", comparison, text)
        case let text as String where property == \.processIdentifier: take("processID", comparison, text)
        case let date as Date where property == \.timestamp: take("timestamp", comparison, date)
        case let number as Int64 where property == \.transactionIdentifier || property == \.id: take("transactionNumber", comparison, number)
        default: return
        }
    }

    private mutating func take(_ token: DefaultHistoryToken, _ comparison: Comparison) {
        guard comparison != .notEqual else { return }
        tokens.append(token)
        switch comparison {
        case .greater: after = after ?? token
        case .less, .lessOrEqual: upTo = upTo ?? token
        case .greaterOrEqual, .equal, .notEqual: return
        }
    }

    /// Text has an order in Swift that is not the store's.
    private mutating func take(_ name: String, _ comparison: Comparison, _ text: String) {
        guard comparison == .equal else { return }
        conditions.append(NSPredicate(format: "%K == %@", name, text as NSString))
    }

    private mutating func take(_ name: String, _ comparison: Comparison, _ value: some CVarArg) {
        conditions.append(NSPredicate(format: "%K \(comparison.rawValue) %@", argumentArray: [name, value]))
    }

    enum Comparison: String {
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case equal = "=="
        case notEqual = "!="

        var mirrored: Comparison {
            switch self {
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            case .equal, .notEqual: self
            }
        }
    }
}

// MARK: Expressions

private protocol ConjunctionExpression {
    var parts: [any PredicateExpression] { get }
}

extension PredicateExpressions.Conjunction: ConjunctionExpression {
    fileprivate var parts: [any PredicateExpression] { [lhs, rhs] }
}

private protocol ComparingExpression {
    var sides: (any PredicateExpression, any PredicateExpression) { get }
    var comparison: HistoryBounds.Comparison { get }
}

extension PredicateExpressions.Equal: ComparingExpression {
    fileprivate var sides: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }
    fileprivate var comparison: HistoryBounds.Comparison { .equal }
}

extension PredicateExpressions.Comparison: ComparingExpression {
    fileprivate var sides: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }
    fileprivate var comparison: HistoryBounds.Comparison {
        switch op {
        case .lessThan: .less
        case .lessThanOrEqual: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEqual: .greaterOrEqual
        @unknown default: .notEqual
        }
    }
}

private protocol KeyPathExpression {
    var anyKeyPath: AnyKeyPath { get }
    func isOf(_ variable: PredicateExpressions.VariableID) -> Bool
}

extension PredicateExpressions.KeyPath: KeyPathExpression {
    fileprivate var anyKeyPath: AnyKeyPath { keyPath }
    fileprivate func isOf(_ variable: PredicateExpressions.VariableID) -> Bool {
        (root as? any VariableExpression)?.variableKey == variable
    }
}

private protocol VariableExpression {
    var variableKey: PredicateExpressions.VariableID { get }
}

extension PredicateExpressions.Variable: VariableExpression {
    fileprivate var variableKey: PredicateExpressions.VariableID { key }
}
