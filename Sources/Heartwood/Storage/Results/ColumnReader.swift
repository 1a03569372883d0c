import Foundation

/// Interprets the lists `propertiesToFetch` and `propertiesToGroupBy`: names, key paths, property and expression descriptions.
struct ColumnReader {
    let entity: NSEntityDescription

    private var name: String { entity.name ?? "?" }

    /// The columns of a fetch without `propertiesToFetch`: all persistent attributes, and the elements of composites.
    func attributes() throws -> [ResultShape.Column] {
        try entity.propertiesByIndex.filter { $0 is NSAttributeDescription && !($0 is NSCompositeAttributeDescription) && !$0.isTransient }
            .map { try column($0) }
    }

    func column(_ property: Any) throws -> ResultShape.Column {
        switch property {
        case let description as NSExpressionDescription:
            guard let expression = description.expression, !description.name.isEmpty else {
                // Code for Apple's platforms names a property by such a description.
                if description.expression == nil, entity.propertiesByName[description.name] != nil { return try column(path: description.name) }
                throw ResultShape.error("An NSExpressionDescription needs a name and an expression; \"\(description.name)\" lacks one.")
            }
            let node = expression.node.joiningComposites(of: entity).folded
            try PredicateCheck.check(node, entity: entity)
            let given = description.expressionResultType
            // As a text, a sum is written with its fraction: "3.0".
            if given == .stringAttributeType, case .call(.sum, _) = node {
                return ResultShape.Column(name: description.name, expression: .call(.doubleValue, [node]), type: given)
            }
            let type = given == .undefinedAttributeType ? type(of: node) : given
            return ResultShape.Column(name: description.name, expression: node, type: type)
        case let description as NSPropertyDescription: return try column(path: description.name)
        case let path as String: return try column(path: path)
        default:
            throw ResultShape.error(
                "A property to fetch is a name, a key path, an NSPropertyDescription or an NSExpressionDescription, not \(ValueText.of(property)).")
        }
    }

    /// - Parameter columns: the fetched columns; `property` may be the name of one.
    func groupKey(_ property: Any, _ columns: [ResultShape.Column]) throws -> ResultShape.Column {
        if let key = property as? String, entity.propertiesByName[key] == nil, let known = columns.first(where: { $0.name == key }) {
            return try groupKey(known)
        }
        return try groupKey(try column(property))
    }

    private func groupKey(_ column: ResultShape.Column) throws -> ResultShape.Column {
        guard !column.expression.hasAggregate else {
            throw ResultShape.error("\(name) cannot be grouped by \"\(column.name)\": it is an aggregate, which needs the groups first.")
        }
        return column
    }

    // MARK: Key paths

    private func column(path: String) throws -> ResultShape.Column {
        let given: [String]
        do {
            given = try PredicateKeyPath.keys(path)
        } catch {
            throw ResultShape.error("\(name) cannot give \"\(path.prefix(200))\": \(error).")
        }
        let keys = entity.joiningComposites(given)
        let node = ExpressionNode.keyPath(keys == ["self"] || keys == ["SELF"] ? [] : keys)
        try PredicateCheck.check(node, entity: entity)
        var owner: NSEntityDescription? = entity
        for (index, key) in keys.enumerated() {
            let property = owner?.familyProperty(key)
            if let relationship = property as? NSRelationshipDescription, relationship.isToMany,
                !(index + 1 < keys.count && keys[index + 1].hasPrefix("@")) {
                throw ResultShape.error(
                    "\(name) cannot give \"\(path)\": \(key) is a to-many relationship, which has no single value; use an operator, such "
                        + "as \(keys.prefix(index + 1).joined(separator: ".")).@count.")
            }
            owner = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return ResultShape.Column(name: path, expression: node, type: type(of: node))
    }

    /// The type of an expression's values as far as its keys determine it.
    func type(of node: ExpressionNode) -> NSAttributeType {
        switch node {
        case .keyPath(let keys):
            var owner: NSEntityDescription? = entity, type = NSAttributeType.objectIDAttributeType
            for key in keys where !["@min", "@max"].contains(key) {
                if key == "@count" { return .integer64AttributeType }
                if key.hasPrefix("@") { return .undefinedAttributeType }
                guard let property = owner?.familyProperty(key) else { continue }
                owner = (property as? NSRelationshipDescription)?.destinationEntity
                type = (property as? NSAttributeDescription)?.attributeType ?? .objectIDAttributeType
            }
            return type
        case .call(.count, _): return .integer64AttributeType
        case .call(.min, let arguments), .call(.max, let arguments):
            return arguments.count == 1 ? type(of: arguments[0]) : .undefinedAttributeType
        default: return .undefinedAttributeType
        }
    }
}
