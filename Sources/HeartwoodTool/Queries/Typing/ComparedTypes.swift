import Heartwood

/// Finds the types of expressions in a predicate.
struct ComparedTypes {
    /// The entities of the objects that the predicate is about. Several if siblings have relationships with the same name to different entities.
    let owners: [NSEntityDescription]
    /// The entities of the objects that subqueries' variables represent.
    var objects: [String: [NSEntityDescription]] = [:]
    /// The expressions behind the variables that name a group's columns.
    var columns: [String: ExpressionNode] = [:]

    /// The types inside of a subquery.
    func entering(_ variable: String, _ collection: ExpressionNode) -> ComparedTypes {
        var inner = self
        inner.objects[variable] = entities(of: collection)
        return inner
    }

    /// - Returns: nil for a constant, and for an expression of unknown type.
    func type(of node: ExpressionNode) -> ComparedType? {
        switch node {
        case .keyPath(let keys): type(of: keys, from: owners)
        case .path(let base, let keys): type(of: keys, from: entities(of: base), isMany: isMany(base)).map { named($0, node) }
        case .aggregate(let members): members.lazy.compactMap(type).first.map(many)
        case .variable(let name): objects[name].map { _ in ComparedType(name: "$\(name)", kind: .object) } ?? columns[name].flatMap(type)
        case .call(let function, let arguments): type(of: function, arguments).map { named($0, node) }
        case .set(_, let left, let right): type(of: left) ?? type(of: right)
        case .subquery: ComparedType(name: NSExpression(node: node).description, kind: .object, isMany: true)
        case .conditional(_, let first, let second): type(of: first) ?? type(of: second)
        case .constant, .block, .fault: nil
        }
    }

    private func named(_ type: ComparedType, _ node: ExpressionNode) -> ComparedType {
        var result = type
        result.name = NSExpression(node: node).description
        return result
    }

    private func many(_ type: ComparedType) -> ComparedType {
        var result = type
        result.isMany = true
        return result
    }

    private func isMany(_ node: ExpressionNode) -> Bool { type(of: node)?.isMany ?? false }

    // MARK: Objects

    /// The entities of the objects that an expression gives; none if they are unknown.
    private func entities(of node: ExpressionNode) -> [NSEntityDescription] {
        switch node {
        case .keyPath(let keys): entities(at: keys, from: owners)
        case .path(let base, let keys): entities(at: keys, from: entities(of: base))
        case .variable(let name): objects[name] ?? []
        case .subquery(let collection, _, _): entities(of: collection)
        case .call(let function, let arguments):
            [.first, .last, .element, .distinct, .noIndex].contains(function) ? arguments.first.map(entities) ?? [] : []
        case .set(_, let left, _): entities(of: left)
        case .conditional(_, let first, _): entities(of: first)
        case .constant, .aggregate, .block, .fault: []
        }
    }

    private func entities(at keys: [String], from owners: [NSEntityDescription]) -> [NSEntityDescription] {
        keys.reduce(owners) { $1.lowercased() == "self" || $1.hasPrefix("@") ? $0 : $0.destinations(of: $1) }
    }

    // MARK: Key paths

    /// The end of a key path.
    private struct End {
        var owners: [NSEntityDescription]
        /// nil where the path ends at objects.
        var attribute: NSAttributeDescription?
        var isMany: Bool

        /// - Returns: false where no object has the key.
        mutating func step(_ key: String) -> Bool {
            if let composite = attribute as? NSCompositeAttributeDescription {
                attribute = composite.elements.first { $0.name == key }
                return attribute != nil
            }
            guard attribute == nil, let property = owners.lazy.flatMap({ $0.familyProperties(key) }).first else { return false }
            attribute = property as? NSAttributeDescription
            guard let relationship = property as? NSRelationshipDescription else { return attribute != nil }
            isMany = isMany || relationship.isToMany
            owners = owners.destinations(of: key)
            return true
        }
    }

    private static func isOperator(_ key: String) -> Bool { key.hasPrefix("@") || key.lowercased() == "self" || key == "objectID" }

    private func type(of keys: [String], from start: [NSEntityDescription], isMany: Bool = false) -> ComparedType? {
        guard !start.isEmpty else { return nil }
        let name = keys.isEmpty ? "SELF" : keys.joined(separator: ".")
        var end = End(owners: start, isMany: isMany)
        for key in keys {
            switch key {
            case "@count": return ComparedType(name: name, kind: .value(.integer64AttributeType))
            case "length" where end.attribute != nil: return ComparedType(name: name, kind: .value(.integer64AttributeType))
            case "@sum", "@avg": return ComparedType(name: name, kind: .value(.doubleAttributeType))
            case "@min", "@max": end.isMany = false
            case _ where Self.isOperator(key): continue
            default: guard end.step(key) else { return nil }
            }
        }
        return ComparedType(name: name, kind: end.attribute.map { .value($0.attributeType) } ?? .object, isMany: end.isMany)
    }

    /// The expression, led on to the element of a composite that has no other. An enumeration has its raw value there.
    func reachingElement(_ node: ExpressionNode) -> ExpressionNode {
        switch node {
        case .keyPath(let keys): .keyPath(keys + onlyElements(at: keys, from: owners))
        case .path(let base, let keys): .path(base, keys + onlyElements(at: keys, from: entities(of: base)))
        default: node
        }
    }

    private func onlyElements(at keys: [String], from start: [NSEntityDescription]) -> [String] {
        var end = End(owners: start, isMany: false), names: [String] = []
        guard keys.filter({ !Self.isOperator($0) }).allSatisfy({ end.step($0) }) else { return [] }
        while let composite = end.attribute as? NSCompositeAttributeDescription, composite.elements.count == 1 {
            names.append(composite.elements[0].name)
            end.attribute = composite.elements[0]
        }
        return names
    }

    // MARK: Functions

    private func type(of function: PredicateFunction, _ arguments: [ExpressionNode]) -> ComparedType? {
        func value(_ type: NSAttributeType) -> ComparedType { ComparedType(name: "", kind: .value(type)) }
        switch function {
        case .noIndex, .distinct: return arguments.first.flatMap(type)
        case .min, .max, .mode, .first, .last, .element:
            guard let found = arguments.first.flatMap(type) else { return nil }
            return ComparedType(name: found.name, kind: found.kind, isMany: function == .mode)
        case .add, .subtract:
            let types = arguments.compactMap(type), dates = types.filter(\.isDate).count
            guard !types.isEmpty else { return nil }
            return value(dates == 1 ? .dateAttributeType : .doubleAttributeType)
        case .now, .addingInterval: return value(.dateAttributeType)
        case .count, .size, .length: return value(.integer64AttributeType)
        case .uppercase, .lowercase, .canonical, .uppercaseString, .lowercaseString, .capitalizedString, .appending:
            return value(.stringAttributeType)
        case .cast: return Self.type(ofCastTo: arguments.last).map(value)
        default: return value(.doubleAttributeType)
        }
    }

    private static func type(ofCastTo name: ExpressionNode?) -> NSAttributeType? {
        guard case .constant(.text(let name))? = name else { return nil }
        return [
            "NSDate": .dateAttributeType, "NSNumber": .doubleAttributeType, "NSString": .stringAttributeType, "NSUUID": .UUIDAttributeType,
            "NSDecimalNumber": .decimalAttributeType, "NSURL": .URIAttributeType, "NSData": .binaryDataAttributeType,
        ][name]
    }
}
