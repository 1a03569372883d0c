import Foundation

/// Converts constants to the type of the attribute they are compared with: a number to a text of its digits, a text to the number it contains.
/// Core Data's SQL stores compare this way, by the affinity of their columns. Predicates that are evaluated in memory do not.
/// Source: https://www.sqlite.org/datatype3.html, section 4.2
extension PredicateNode {
    func matchingColumns(of entity: NSEntityDescription) -> PredicateNode { matched(entity) ?? self }

    /// - Returns: nil where nothing changes, the common case, in which nothing is allocated.
    private func matched(_ entity: NSEntityDescription) -> PredicateNode? {
        switch self {
        case .constant, .words, .block, .fault: return nil
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
    /// - Returns: nil for an expression that is not constant, or needs no conversion for the path's attribute.
    fileprivate func matched(_ path: ExpressionNode, _ entity: NSEntityDescription) -> ExpressionNode? {
        switch self {
        case .constant, .aggregate: path.attributeType(entity).flatMap { matched($0.codec) }
        default: nil
        }
    }

    private func matched(_ type: AttributeCodec) -> ExpressionNode? {
        switch self {
        case .constant(let value): value.matched(type).map(ExpressionNode.constant)
        case .aggregate(let list): list.replacing { $0.matched(type) }.map(ExpressionNode.aggregate)
        default: nil
        }
    }

    /// The type of the attribute at the end of a key path without operators.
    private func attributeType(_ entity: NSEntityDescription) -> NSAttributeType? {
        guard case .keyPath(let keys) = self else { return nil }
        var owner: NSEntityDescription? = entity
        for (index, key) in keys.enumerated() {
            let property = owner?.familyProperty(key)
            // Keys that follow an attribute give a value of another type.
            if let attribute = property as? NSAttributeDescription { return index + 1 == keys.count ? attribute.attributeType : nil }
            owner = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return nil
    }
}

extension Array {
    /// Returns a copy with replaced elements; nil where no element changes.
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
    /// Returns the value that a column of this type would store; nil where it is unchanged, or no conversion exists.
    fileprivate func matched(_ type: AttributeCodec) -> PredicateValue? {
        switch self {
        case .collection(let members): return members.replacing { $0.matched(type) }.map(PredicateValue.collection)
        case .text(let text):
            guard type.number != nil else { return nil }
            guard type.raw == .decimal else { return Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double) }
            return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(PredicateValue.decimal)
        case _ where type.kind != .string: return nil
        case .integer(let number): return .text("\(number)")
        case .double(let number): return .text("\(number)")
        case .decimal(let number): return .text("\(number)")
        case .bool(let flag): return .text(flag ? "1" : "0")
        default: return nil
        }
    }
}
