import Heartwood

/// Reads the constants of a predicate that a person wrote as values of the types that they are compared with.
///
/// A predicate of a program says the types itself, and a comparison of a date with a text finds nothing. A person has only texts and numbers.
struct TypedPredicate {
    let types: ComparedTypes
    let objectID: (String) throws -> NSManagedObjectID

    func read(_ node: PredicateNode) throws -> PredicateNode {
        switch node {
        case .and(let parts): .and(try parts.map(read))
        case .or(let parts): .or(try parts.map(read))
        case .not(let part): .not(try read(part))
        case .comparison(let comparison): try TypedComparison(try parts(comparison), types, constant).node
        case .constant, .words, .block, .fault: node
        }
    }

    private func constant(_ value: PredicateValue, _ type: ComparedType) throws -> ComparedConstant {
        try ComparedConstant.read(value, as: type, objectID: objectID)
    }

    private func parts(_ comparison: PredicateNode.Comparison) throws -> PredicateNode.Comparison {
        PredicateNode.Comparison(
            left: try read(comparison.left), comparison: comparison.comparison, right: try read(comparison.right), modifier: comparison.modifier,
            options: comparison.options)
    }

    /// Reads the predicates inside of an expression.
    private func read(_ node: ExpressionNode) throws -> ExpressionNode {
        switch node {
        case .path(let base, let keys): return .path(try read(base), keys)
        case .aggregate(let list): return .aggregate(try list.map(read))
        case .call(let function, let arguments): return .call(function, try arguments.map(read))
        case .set(let operation, let left, let right): return .set(operation, try read(left), try read(right))
        case .subquery(let collection, let name, let predicate):
            let collection = try read(collection)
            let inner = TypedPredicate(types: types.entering(name, collection), objectID: objectID)
            return .subquery(collection, variable: name, try inner.read(predicate))
        case .conditional(let predicate, let first, let second): return .conditional(try read(predicate), try read(first), try read(second))
        case .constant, .keyPath, .variable, .block, .fault: return node
        }
    }
}
