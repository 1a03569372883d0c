import Foundation
import RecordLog

/// Compiles key paths that go through relationships, and expressions whose values are results.
extension PredicateCompiler {
    /// Compiles an expression of a result. Beside the values that predicates compare, it supports objects, as their IDs, and attributes without
    /// an order.
    /// - Returns: nil where a part cannot be computed from rows.
    func result(_ node: ExpressionNode) -> (any RowExpression)? {
        guard case .keyPath(let keys) = node else { return expression(node) }
        return path(keys[...], asResult: true)
    }

    /// - Parameter asResult: see `result`.
    func path(_ keys: ArraySlice<String>, asResult: Bool = false) -> (any RowExpression)? {
        let runtime = table.runtime, rest = keys.dropFirst()
        guard let key = keys.first else { return asResult ? IdentityExpression() : nil }
        guard let index = runtime.index(of: key) else {
            if let known = constant(keys) { return ConstantExpression(known) }
            return asResult && rest.isEmpty && (key == "objectID" || key.lowercased() == "self") ? IdentityExpression() : nil
        }
        let property = runtime.properties[index]
        guard !property.isTransient, !Self.isTooWide(keys, from: runtime.entity) else { return nil }
        switch property.kind {
        case .toOne:
            guard !rest.isEmpty else { return asResult ? ReferenceExpression(runtime, index) : nil }
            return destinations(of: index, rest, asResult).map { ToOneExpression(runtime, index, $0) }
        case .toMany:
            guard otherTables != nil, let source = source(index) else { return nil }
            switch rest.first {
            case "@count"?: return rest.count == 1 ? MemberCountExpression(source) : nil
            case let name? where name.hasPrefix("@"):
                guard let function = Self.operators[name] else { return nil }
                return destinations(of: index, rest.dropFirst(), asResult).map { CallExpression(function, [MembersExpression(source, $0)]) }
            default: return destinations(of: index, rest, asResult).map { MembersExpression(source, $0) }
            }
        case .transformable, .externalData: return asResult && rest.isEmpty ? OpaqueExpression(runtime, index) : nil
        default: return rest.isEmpty ? expression(.keyPath([key])) : nil
        }
    }

    /// The members of a to-many relationship, each by its value at the rest of a path, or by its row where it has none.
    func memberReferences(_ keys: [String]) -> (any RowExpression)? {
        guard let key = keys.first, let index = table.runtime.index(of: key), table.runtime.properties[index].kind == .toMany,
            !table.runtime.properties[index].isTransient, otherTables != nil, let source = source(index)
        else { return nil }
        guard keys.count > 1 else { return MembersExpression(source, DestinationExpressions(), givesReferences: true) }
        return destinations(of: index, keys.dropFirst(), true).map { MembersExpression(source, $0, givesReferences: true) }
    }

    private static let operators: [String: PredicateFunction] = ["@sum": .sum, "@avg": .average, "@min": .min, "@max": .max]

    private func destinations(of index: Int, _ rest: ArraySlice<String>, _ asResult: Bool) -> DestinationExpressions? {
        guard let destination = table.runtime.properties[index].destination else { return nil }
        var result = DestinationExpressions()
        for entity in destination.concreteFamily {
            guard let other = other(entity), let expression = other.path(rest, asResult: asResult) else { return nil }
            result.set(expression, for: other.table.id)
        }
        return result
    }
}
