import Foundation

/// Visits the key paths of a predicate in the order in which they are written, with the entities to which they apply.
struct PredicatePaths {
    struct Path {
        /// Several if siblings have relationships with the same name to different entities. None if unknown: the path applies to a variable or to a
        /// function's value.
        let owners: [NSEntityDescription]
        let keys: [String]
        /// Whether the path is one side of a comparison without ANY or ALL. With a single key it then concerns no other object.
        let isDirect: Bool
        /// The path's index among all paths.
        let ordinal: Int
    }

    private let body: (Path) throws -> Void
    private var count = 0

    /// - Throws: the errors of `body`.
    static func traverse(_ node: PredicateNode, entity: NSEntityDescription, _ body: @escaping (Path) throws -> Void) throws {
        var paths = PredicatePaths(body: body)
        try paths.traverse(node, [entity], [:])
    }

    /// Visits the key paths of an expression.
    static func traverse(_ node: ExpressionNode, entity: NSEntityDescription, _ body: @escaping (Path) throws -> Void) throws {
        var paths = PredicatePaths(body: body)
        _ = try paths.traverse(node, [entity], [:])
    }

    /// The entity of the objects that an expression gives, if there is exactly one and it is known. `variables` has the entities of subqueries'
    /// variables.
    static func entity(
        of node: ExpressionNode, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]
    ) -> NSEntityDescription? {
        var paths = PredicatePaths { _ in }
        let found = (try? paths.traverse(node, [entity], variables.mapValues { [$0] })) ?? []
        return found.count == 1 ? found.first : nil
    }

    private init(body: @escaping (Path) throws -> Void) {
        self.body = body
    }

    private mutating func traverse(_ node: PredicateNode, _ owners: [NSEntityDescription], _ variables: [String: [NSEntityDescription]]) throws {
        switch node {
        case .constant, .block, .fault: break
        case .and(let parts), .or(let parts): for part in parts { try traverse(part, owners, variables) }
        case .not(let part): try traverse(part, owners, variables)
        case .words(let condition):
            for attribute in condition.attributes { _ = try traverse(attribute, owners, variables, isDirect: true) }
        case .comparison(let comparison):
            let isDirect = comparison.modifier == .direct
            _ = try traverse(comparison.left, owners, variables, isDirect: isDirect)
            _ = try traverse(comparison.right, owners, variables, isDirect: isDirect)
        }
    }

    /// - Returns: the entities of the objects that the expression gives, if they are known.
    private mutating func traverse(
        _ node: ExpressionNode, _ owners: [NSEntityDescription], _ variables: [String: [NSEntityDescription]], isDirect: Bool = false
    ) throws -> [NSEntityDescription] {
        switch node {
        case .constant, .fault: return []
        case .variable(let name): return variables[name] ?? []
        case .keyPath(let keys): return try visit(keys, owners, isDirect: isDirect)
        case .path(let base, let keys): return try visit(keys, try traverse(base, owners, variables), isDirect: false)
        case .aggregate(let list), .block(_, let list):
            for part in list { _ = try traverse(part, owners, variables) }
            return []
        case .call(let function, let arguments):
            let found = try arguments.map { try traverse($0, owners, variables) }
            return function.isIndex ? found.first ?? [] : []
        case .set(_, let left, let right):
            let first = try traverse(left, owners, variables), second = try traverse(right, owners, variables)
            return first.elementsEqual(second, by: ===) ? first : []
        case .subquery(let collection, let name, let predicate):
            let members = try traverse(collection, owners, variables)
            var inner = variables
            inner[name] = members
            try traverse(predicate, owners, inner)
            return members
        case .conditional(let predicate, let first, let second):
            try traverse(predicate, owners, variables)
            let found = try traverse(first, owners, variables), other = try traverse(second, owners, variables)
            return found.elementsEqual(other, by: ===) ? found : []
        }
    }

    private mutating func visit(_ keys: [String], _ owners: [NSEntityDescription], isDirect: Bool) throws -> [NSEntityDescription] {
        try body(Path(owners: owners, keys: keys, isDirect: isDirect, ordinal: count))
        count += 1
        var owners = owners
        for key in keys where key.lowercased() != "self" && !key.hasPrefix("@") { owners = owners.destinations(of: key) }
        return owners
    }
}
