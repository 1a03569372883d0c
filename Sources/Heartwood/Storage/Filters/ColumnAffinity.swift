import Foundation

/// What a fetch compares an attribute with, as the attribute's type has it: a number beside a text counts as its digits, a text
/// beside a number as the number that it is. Core Data's SQL stores compare so, by the affinity of their columns; predicates that are
/// evaluated by themselves do not.
/// Source: https://www.sqlite.org/datatype3.html, section 4.2
extension PredicateNode {
    func matchingColumns(of entity: NSEntityDescription) -> PredicateNode { matched(entity) ?? self }

    /// - Returns: nil where nothing is to be changed, as mostly: then nothing is built.
    private func matched(_ entity: NSEntityDescription) -> PredicateNode? {
        switch self {
        case .constant, .block, .fault: return nil
        case .and(let parts): return parts.replacing { $0.matched(entity) }.map(PredicateNode.and)
        case .or(let parts): return parts.replacing { $0.matched(entity) }.map(PredicateNode.or)
        case .not(let part): return part.matched(entity).map(PredicateNode.not)
        case .comparison(var comparison):
            if let right = comparison.right.matched(comparison.left, entity) {
                comparison.right = right
            } else if let left = comparison.left.matched(comparison.right, entity) {
                comparison.left = left
            } else {
                return nil
            }
            return .comparison(comparison)
        }
    }
}

extension ExpressionNode {
    /// - Returns: nil where it is no constant, or needs no change beside the path.
    fileprivate func matched(_ path: ExpressionNode, _ entity: NSEntityDescription) -> ExpressionNode? {
        switch self {
        case .constant, .aggregate: path.attributeType(entity).flatMap(matched)
        default: nil
        }
    }

    private func matched(_ type: NSAttributeType) -> ExpressionNode? {
        switch self {
        case .constant(let value): value.matched(type).map(ExpressionNode.constant)
        case .aggregate(let list): list.replacing { $0.matched(type) }.map(ExpressionNode.aggregate)
        default: nil
        }
    }

    /// The type of the attribute that a key path without operators leads to.
    private func attributeType(_ entity: NSEntityDescription) -> NSAttributeType? {
        guard case .keyPath(let keys) = self else { return nil }
        var owner: NSEntityDescription? = entity
        for (index, key) in keys.enumerated() {
            let property = owner?.familyProperty(key)
            // What is asked of the value itself is another one.
            if let attribute = property as? NSAttributeDescription { return index + 1 == keys.count ? attribute.attributeType : nil }
            owner = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return nil
    }
}

extension Array {
    /// With other elements in their places; nil where each stays.
    fileprivate func replacing(_ replace: (Element) -> Element?) -> [Element]? {
        var result: [Element]?
        for index in indices {
            guard let other = replace(self[index]) else { continue }
            result = result ?? self
            result?[index] = other
        }
        return result
    }
}

extension PredicateValue {
    /// The value that a column of the type has for it; nil where it is that already, or there is none.
    fileprivate func matched(_ type: NSAttributeType) -> PredicateValue? {
        switch (type, self) {
        case (_, .collection(let members)):
            return members.replacing { $0.matched(type) }.map(PredicateValue.collection)
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
