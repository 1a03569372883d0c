import Foundation

/// What a fetch compares an attribute with, as the attribute's type has it: a number beside a text counts as its digits, a text beside a number as the
/// number that it is. Core Data's SQL stores compare so, by the affinity of their columns; predicates that are evaluated by themselves do not.
/// Source: https://www.sqlite.org/datatype3.html, section 4.2
extension PredicateNode {
    func matchingColumns(of entity: NSEntityDescription) -> PredicateNode {
        switch self {
        case .constant, .block, .fault: return self
        case .and(let parts): return .and(parts.map { $0.matchingColumns(of: entity) })
        case .or(let parts): return .or(parts.map { $0.matchingColumns(of: entity) })
        case .not(let part): return .not(part.matchingColumns(of: entity))
        case .comparison(let comparison):
            if let right = comparison.right.matching(comparison.left, of: entity) {
                var result = comparison
                result.right = right
                return .comparison(result)
            }
            if let left = comparison.left.matching(comparison.right, of: entity) {
                var result = comparison
                result.left = left
                return .comparison(result)
            }
            return self
        }
    }
}

extension ExpressionNode {
    /// - Returns: nil where it is no constant, or one that needs no change.
    fileprivate func matching(_ path: ExpressionNode, of entity: NSEntityDescription) -> ExpressionNode? {
        guard isConstant, case .keyPath(let keys) = path, let type = entity.attributeType(keys) else { return nil }
        switch self {
        case .constant(let value): return value.matching(type).map(ExpressionNode.constant)
        case .aggregate(let list):
            let matched = list.map { node in
                if case .constant(let value) = node, let other = value.matching(type) { return ExpressionNode.constant(other) }
                return node
            }
            return .aggregate(matched)
        default: return nil
        }
    }

    private var isConstant: Bool {
        switch self {
        case .constant, .aggregate: true
        default: false
        }
    }
}

extension NSEntityDescription {
    /// The type of the attribute that a key path without operators leads to.
    fileprivate func attributeType(_ keys: [String]) -> NSAttributeType? {
        var owner: NSEntityDescription? = self
        for (place, key) in keys.enumerated() {
            let property = owner?.familyProperty(key)
            // What is asked of the value itself is another one.
            if let attribute = property as? NSAttributeDescription { return place + 1 == keys.count ? attribute.attributeType : nil }
            owner = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return nil
    }
}

extension PredicateValue {
    /// The value that a column of the type has for it; nil where it is that already, or there is none.
    fileprivate func matching(_ type: NSAttributeType) -> PredicateValue? {
        switch (type, self) {
        case (_, .collection(let members)):
            guard members.contains(where: { $0.matching(type) != nil }) else { return nil }
            return .collection(members.map { $0.matching(type) ?? $0 })
        case (.stringAttributeType, .integer(let number)): return .text("\(number)")
        case (.stringAttributeType, .double(let number)): return .text("\(number)")
        case (.stringAttributeType, .decimal(let number)): return .text("\(number)")
        case (.stringAttributeType, .bool(let flag)): return .text(flag ? "1" : "0")
        case (.integer16AttributeType, .text(let text)), (.integer32AttributeType, .text(let text)), (.integer64AttributeType, .text(let text)),
            (.booleanAttributeType, .text(let text)), (.doubleAttributeType, .text(let text)), (.floatAttributeType, .text(let text)):
            return Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double)
        case (.decimalAttributeType, .text(let text)):
            return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(PredicateValue.decimal)
        default: return nil
        }
    }
}
