import Foundation

extension PredicateCheck {
    /// Refuses a value that nothing on the other side can equal, such as a range or a case of an enumeration. What may hold any object
    /// (a transformable attribute, or what is not known here) is compared with it in memory.
    static func checkValues(
        _ comparison: PredicateNode.Comparison, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]
    ) throws(PredicateFault) {
        for (value, other) in [(comparison.right, comparison.left), (comparison.left, comparison.right)] {
            guard let stranger = value.stranger, !mayHoldObjects(other, entity, variables) else { continue }
            throw PredicateFault(
                reason: "\(ValueText.of(stranger)) is of a type that no attribute is compared with; give a number, a text, a date or the like, "
                    + "such as the raw value of an enumeration's case.")
        }
    }

    /// Whether an expression's values may be of any type.
    private static func mayHoldObjects(
        _ node: ExpressionNode, _ entity: NSEntityDescription, _ variables: [String: NSEntityDescription]
    ) -> Bool {
        switch node {
        case .constant: node.stranger != nil
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
            // What is no property at all is refused elsewhere, or is one of the object's own keys.
            guard let relationship = property as? NSRelationshipDescription else { return key != "objectID" }
            owner = relationship.destinationEntity
        }
        return owner == nil
    }
}

extension ExpressionNode {
    /// A constant value of no known type that is in it.
    fileprivate var stranger: AnyObject? {
        switch self {
        case .constant(let value): value.stranger
        case .aggregate(let list): list.lazy.compactMap(\.stranger).first
        default: nil
        }
    }
}

extension PredicateValue {
    fileprivate var stranger: AnyObject? {
        switch self {
        // A dictionary stands for its values, or for a composite attribute's.
        case .other(let object as NSDictionary): object.allValues.lazy.compactMap { PredicateValue($0).stranger }.first
        case .other(let object): object
        case .collection(let members): members.lazy.compactMap(\.stranger).first
        default: nil
        }
    }
}
