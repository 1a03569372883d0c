import Foundation

extension PredicateCheck {
    /// Refuses a value that cannot equal anything on the other side, such as a range or an enumeration's case. If the other side may hold any
    /// object, as a transformable attribute or an unknown type does, the comparison is made in memory.
    static func checkValues(
        _ comparison: PredicateNode.Comparison, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]
    ) throws(PredicateFault) {
        for (value, other) in [(comparison.right, comparison.left), (comparison.left, comparison.right)] {
            guard let incomparable = value.incomparable, !mayHoldObjects(other, entity, variables) else { continue }
            throw PredicateFault(
                reason: "\(ValueText.of(incomparable)) is of a type that no attribute is compared with; give a number, a text, a date or the like, "
                    + "such as the raw value of an enumeration's case.")
        }
    }

    /// Whether the expression's values may have any type.
    private static func mayHoldObjects(
        _ node: ExpressionNode, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]
    ) -> Bool {
        switch node {
        case .constant: node.incomparable != nil
        case .keyPath(let keys): mayHoldObjects(keys, entity)
        case .path(let base, let keys): mayHoldObjects(keys, PredicatePaths.entity(of: base, entity, variables))
        case .aggregate(let list), .call(_, let list): list.contains { mayHoldObjects($0, entity, variables) }
        case .set(_, let first, let second), .conditional(_, let first, let second):
            mayHoldObjects(first, entity, variables) || mayHoldObjects(second, entity, variables)
        case .variable, .subquery: false
        case .block, .fault: true
        }
    }

    private static func mayHoldObjects(_ keys: [String], _ entity: NSEntityDescription?) -> Bool {
        var owner = entity
        for key in keys where key.lowercased() != "self" && !key.hasPrefix("@") {
            let property = owner?.familyProperty(key)
            if let attribute = property as? NSAttributeDescription {
                return [.transformableAttributeType, .compositeAttributeType, .undefinedAttributeType].contains(attribute.attributeType)
            }
            // An unknown key is refused elsewhere, or is a key of the object itself.
            guard let relationship = property as? NSRelationshipDescription else { return key != "objectID" }
            owner = relationship.destinationEntity
        }
        return owner == nil
    }
}

// Loops, and no lazy sequences: the optimizer puts a recursive getter into each stage of such a sequence, 84 KB of code in all.
extension ExpressionNode {
    /// A constant value of an unknown type in the expression.
    fileprivate var incomparable: AnyObject? {
        switch self {
        case .constant(let value): return value.incomparable
        case .aggregate(let list):
            for member in list {
                if let found = member.incomparable { return found }
            }
            return nil
        default: return nil
        }
    }
}

extension PredicateValue {
    fileprivate var incomparable: AnyObject? {
        switch self {
        // A dictionary represents its values, or those of a composite attribute.
        case .other(let object as NSDictionary): return Self.incomparable(among: object.allValues.map { PredicateValue($0) })
        case .other(let object): return object
        case .collection(let members): return Self.incomparable(among: members)
        default: return nil
        }
    }

    private static func incomparable(among values: [PredicateValue]) -> AnyObject? {
        for value in values {
            if let found = value.incomparable { return found }
        }
        return nil
    }
}
