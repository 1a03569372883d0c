import Foundation

/// The key paths of a predicate, in the order in which it is written, and whose they are.
struct PredicatePaths {
    struct Path {
        /// nil where it is not known: the path is asked of a variable or of a function's value.
        let owner: NSEntityDescription?
        let keys: [String]
        /// Whether it stands alone on one side of a comparison without ANY or ALL, so that one key says nothing of another object.
        let isDirect: Bool
        /// Among all paths.
        let ordinal: Int
    }

    private let body: (Path) throws -> Void
    private var count = 0

    /// - Throws: what `body` throws.
    static func walk(_ node: PredicateNode, entity: NSEntityDescription, _ body: @escaping (Path) throws -> Void) throws {
        var paths = PredicatePaths(body: body)
        try paths.walk(node, entity, [:])
    }

    /// The same for an expression.
    static func walk(_ node: ExpressionNode, entity: NSEntityDescription, _ body: @escaping (Path) throws -> Void) throws {
        var paths = PredicatePaths(body: body)
        _ = try paths.walk(node, entity, [:])
    }

    /// The entity of the objects that an expression gives, as far as it is known; `variables` say what subqueries go over.
    static func entity(
        of node: ExpressionNode, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]
    ) -> NSEntityDescription? {
        var paths = PredicatePaths { _ in }
        return try? paths.walk(node, entity, variables)
    }

    private init(body: @escaping (Path) throws -> Void) {
        self.body = body
    }

    private mutating func walk(_ node: PredicateNode, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]) throws {
        switch node {
        case .constant, .block, .fault: break
        case .and(let parts), .or(let parts): for part in parts { try walk(part, entity, variables) }
        case .not(let part): try walk(part, entity, variables)
        case .comparison(let comparison):
            let isDirect = comparison.modifier == .direct
            _ = try walk(comparison.left, entity, variables, isDirect: isDirect)
            _ = try walk(comparison.right, entity, variables, isDirect: isDirect)
        }
    }

    /// - Returns: the entity of the objects that the expression gives, as far as it is known.
    private mutating func walk(
        _ node: ExpressionNode, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription], isDirect: Bool = false
    ) throws -> NSEntityDescription? {
        switch node {
        case .constant, .fault: return nil
        case .variable(let name): return variables[name]
        case .keyPath(let keys): return try visit(keys, entity, isDirect: isDirect)
        case .path(let base, let keys): return try visit(keys, try walk(base, entity, variables), isDirect: false)
        case .aggregate(let list), .block(_, let list):
            for part in list { _ = try walk(part, entity, variables) }
            return nil
        case .call(let function, let arguments):
            let found = try arguments.map { try walk($0, entity, variables) }
            return function.isIndex ? found.first ?? nil : nil
        case .set(_, let left, let right):
            let first = try walk(left, entity, variables), second = try walk(right, entity, variables)
            return first === second ? first : nil
        case .subquery(let collection, let name, let predicate):
            let member = try walk(collection, entity, variables)
            var inner = variables
            inner[name] = member
            try walk(predicate, entity, inner)
            return member
        case .conditional(let predicate, let first, let second):
            try walk(predicate, entity, variables)
            let found = try walk(first, entity, variables), other = try walk(second, entity, variables)
            return found === other ? found : nil
        }
    }

    private mutating func visit(_ keys: [String], _ owner: NSEntityDescription?, isDirect: Bool) throws -> NSEntityDescription? {
        try body(Path(owner: owner, keys: keys, isDirect: isDirect, ordinal: count))
        count += 1
        var owner = owner
        for key in keys where key.lowercased() != "self" && !key.hasPrefix("@") {
            owner = (owner?.familyProperty(key) as? NSRelationshipDescription)?.destinationEntity
        }
        return owner
    }
}

extension NSEntityDescription {
    /// Whether this entity, or one that shares an ancestor with it, has the property.
    func isKnownInFamily(_ name: String) -> Bool {
        var root = self
        while let above = root.superentity { root = above }
        return root.familyProperty(name) != nil
    }

    /// The property of this entity, or of one below it: a key may be one that only a subentity has. Of a model in use.
    func familyProperty(_ name: String) -> NSPropertyDescription? {
        if let index = propertyIndexByName[name] { return frozenProperties[index] }
        return subentities.lazy.compactMap { $0.familyProperty(name) }.first
    }
}
