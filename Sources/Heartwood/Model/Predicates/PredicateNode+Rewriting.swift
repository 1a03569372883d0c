import Foundation

extension PredicateNode {
    /// Replaces expressions in the predicate. `replace` gets an expression after its parts were replaced, and returns the new one. `bound` has the
    /// variables of the enclosing subqueries.
    func rewriting(bound: Set<String> = [], _ replace: (ExpressionNode, _ bound: Set<String>) -> ExpressionNode) -> PredicateNode {
        rewriting(in: bound, entering: ExpressionNode.binding, replace)
    }

    /// Replaces expressions, with a scope of any type.
    /// - Parameter enter: makes the scope inside a subquery, from its variable and its collection, whose parts are already replaced.
    func rewriting<Scope>(
        in scope: Scope, entering enter: (Scope, _ variable: String, _ collection: ExpressionNode) -> Scope,
        _ replace: (ExpressionNode, Scope) -> ExpressionNode
    ) -> PredicateNode {
        func part(_ node: PredicateNode) -> PredicateNode { node.rewriting(in: scope, entering: enter, replace) }
        switch self {
        case .constant, .block, .fault: return self
        case .and(let parts): return .and(parts.map(part))
        case .or(let parts): return .or(parts.map(part))
        case .not(let node): return .not(part(node))
        case .words(var condition):
            condition.attributes = condition.attributes.map { $0.rewriting(in: scope, entering: enter, replace) }
            return .words(condition)
        case .comparison(let comparison):
            // A new comparison, since a comparison keeps the matcher of its pattern.
            return .comparison(Comparison(
                left: comparison.left.rewriting(in: scope, entering: enter, replace), comparison: comparison.comparison,
                right: comparison.right.rewriting(in: scope, entering: enter, replace), modifier: comparison.modifier,
                options: comparison.options))
        }
    }

    /// Replaces variables by constants.
    func substituting(_ variables: [String: Any]) -> PredicateNode {
        rewriting { expression, bound in
            guard case .variable(let name) = expression, !bound.contains(name), let value = variables[name] else { return expression }
            return (value as? NSExpression)?.node ?? .constant(PredicateValue(value))
        }
    }

    /// Replaces functions of constants, and key paths on constants, by their values, so that a store can compile them and use an index. `now()`
    /// then has one value for all objects, as a fetch needs it.
    package var folded: PredicateNode {
        hasExpressions ? rewriting { expression, _ in expression.foldedOnce } : self
    }
}

extension PredicateNode {
    /// Whether it compares more than key paths and constants.
    private var hasExpressions: Bool {
        switch self {
        case .constant, .words, .block, .fault: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasExpressions)
        case .not(let part): part.hasExpressions
        case .comparison(let comparison): comparison.left.isExpression || comparison.right.isExpression
        }
    }
}

extension ExpressionNode {
    /// See `PredicateNode.folded`.
    var folded: ExpressionNode { rewriting(bound: []) { expression, _ in expression.foldedOnce } }

    /// The expression's value if its parts are constants, otherwise the expression.
    fileprivate var foldedOnce: ExpressionNode {
        switch self {
        case .call(let function, let arguments):
            guard function != .random, function != .randomBelow else { return self }
            let values = arguments.compactMap(\.constant)
            return values.count == arguments.count ? .constant(function.apply(values)) : self
        case .aggregate(let list):
            let values = list.compactMap(\.constant)
            return values.count == list.count ? .constant(.collection(values)) : self
        case .set(let operation, let left, let right):
            guard let a = left.constant?.listed, let b = right.constant?.listed else { return self }
            return .constant(operation.apply(a, b))
        // Read now, since the predicate may be evaluated on another context's queue.
        case .path(let base, let keys): return base.constant.map { .constant(PredicateKeyPath.value(keys[...], of: $0)) } ?? self
        default: return self
        }
    }

    fileprivate var isExpression: Bool {
        switch self {
        case .constant, .keyPath: false
        default: true
        }
    }

    var constant: PredicateValue? {
        if case .constant(let value) = self { return value }
        return nil
    }

    /// Whether it is one value for all objects.
    var isConstant: Bool { constant != nil }

    /// The members of a list that is the same for all objects.
    var constantList: [PredicateValue]? {
        if case .aggregate(let list) = self { return list.constants }
        return constant?.members
    }

    fileprivate static func binding(_ bound: Set<String>, _ variable: String, _ collection: ExpressionNode) -> Set<String> {
        bound.union([variable])
    }

    func rewriting(bound: Set<String>, _ replace: (ExpressionNode, _ bound: Set<String>) -> ExpressionNode) -> ExpressionNode {
        rewriting(in: bound, entering: Self.binding, replace)
    }

    /// See `PredicateNode.rewriting(in:entering:_:)`.
    func rewriting<Scope>(
        in scope: Scope, entering enter: (Scope, _ variable: String, _ collection: ExpressionNode) -> Scope,
        _ replace: (ExpressionNode, Scope) -> ExpressionNode
    ) -> ExpressionNode {
        func part(_ node: ExpressionNode) -> ExpressionNode { node.rewriting(in: scope, entering: enter, replace) }
        let result: ExpressionNode
        switch self {
        case .constant, .keyPath, .variable, .fault: result = self
        case .path(let base, let keys): result = .path(part(base), keys)
        case .aggregate(let list): result = .aggregate(list.map(part))
        case .call(let function, let arguments): result = .call(function, arguments.map(part))
        case .set(let operation, let left, let right): result = .set(operation, part(left), part(right))
        case .subquery(let collection, let name, let predicate):
            let collection = part(collection)
            let inner = predicate.rewriting(in: enter(scope, name, collection), entering: enter, replace)
            result = .subquery(collection, variable: name, inner)
        case .conditional(let predicate, let first, let second):
            result = .conditional(predicate.rewriting(in: scope, entering: enter, replace), part(first), part(second))
        case .block(let block, let arguments): result = .block(block, arguments.map(part))
        }
        return replace(result, scope)
    }
}
