import Foundation

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let list = try translation.value(sequence), member = try translation.value(element)
        if LHS.Output.self is any StringProtocol.Type { return .truth(list.compared(.contains, member)) }
        if list.isCollection { return .truth(.comparison(.init(left: list.node, comparison: .contains, right: member.whole))) }
        return .truth(member.compared(.isIn, list))
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let list = try translation.collection(sequence)
        let name = translation.bindMember(variable.key, of: list)
        let test = try translation.predicate(self.test)
        if let any = list.anyMember(name, test) { return .truth(any) }
        return .truth(list.subquery(name, test).count.compared(.greater, .constant(.integer(0))))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let list = try translation.collection(sequence)
        let name = translation.bindMember(variable.key, of: list)
        let test = try translation.predicate(self.test)
        return .truth(list.subquery(name, .negating(test)).count.compared(.equal, .constant(.integer(0))))
    }
}

extension PredicateExpressions.Filter: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let list = try translation.collection(sequence)
        let name = translation.bindMember(variable.key, of: list)
        return .value(list.subquery(name, try translation.predicate(filter)))
    }
}

extension PredicateTranslation {
    fileprivate mutating func collection(_ expression: any PredicateExpression) throws -> TranslatedValue {
        let list = try value(expression)
        if case .collection = list.node.constant { return list }
        guard list.isCollection else {
            throw PredicateTranslationError("A closure can be asked of the members of a to-many relationship, not of other collections.")
        }
        return list
    }
}

extension TranslatedValue {
    fileprivate func subquery(_ name: String, _ test: PredicateNode) -> TranslatedValue {
        var result = TranslatedValue(.subquery(node, variable: name, test), entity: entity)
        result.isNeverNull = true
        result.isCollection = true
        return result
    }

    /// The same condition with ANY, which stops at the first match. nil unless it compares one attribute, or the member, with a constant.
    fileprivate func anyMember(_ name: String, _ test: PredicateNode) -> PredicateNode? {
        guard case .keyPath(let keys) = node, keys.count == 1, case .comparison(var comparison) = test, comparison.modifier == .direct,
            comparison.right.constant != nil
        else { return nil }
        switch comparison.left {
        case .variable(name) where comparison.comparison == .equal || comparison.comparison == .isIn: comparison.left = node
        case .path(.variable(name), let rest) where rest.count == 1 && entity?.familyProperty(rest[0]) is NSAttributeDescription:
            comparison.left = .keyPath(keys + rest)
        default: return nil
        }
        comparison.modifier = .any
        return .comparison(comparison)
    }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let member = try translation.value(element)
        let bounds: RangeBounds
        if let written = range as? any WrittenRange {
            bounds = try written.bounds(in: &translation)
        } else if let held = try? range.evaluate(PredicateBindings()), let found = RangeBounds(held) {
            bounds = found
        } else {
            throw PredicateTranslationError("\(PredicateTranslation.name(self)) cannot be asked of a store.")
        }
        if let lower = bounds.lower?.node.constant, let upper = bounds.upper?.node.constant {
            guard bounds.isClosed else { return .truth(member.lies(from: lower, below: upper)) }
            return .truth(member.compared(.between, .constant(.collection([lower, upper]))))
        }
        var parts: [PredicateNode] = []
        if let lower = bounds.lower { parts.append(member.compared(.greaterOrEqual, lower)) }
        if let upper = bounds.upper { parts.append(member.compared(bounds.isClosed ? .lessOrEqual : .less, upper)) }
        return .truth(.joining(parts, isAnd: true))
    }
}

private struct RangeBounds {
    var lower: TranslatedValue?
    var upper: TranslatedValue?
    /// Whether the range includes the upper bound.
    var isClosed = false

    init(lower: TranslatedValue, upper: TranslatedValue, isClosed: Bool) {
        (self.lower, self.upper, self.isClosed) = (lower, upper, isClosed)
    }

    /// The bounds of a captured range.
    init?<Held: RangeExpression>(_ held: Held) {
        func bound(_ value: Held.Bound) -> TranslatedValue? { PredicateTranslation.constant(value).map(TranslatedValue.constant) }
        switch held {
        case let range as Range<Held.Bound>: (lower, upper) = (bound(range.lowerBound), bound(range.upperBound))
        case let range as ClosedRange<Held.Bound>: (lower, upper, isClosed) = (bound(range.lowerBound), bound(range.upperBound), true)
        case let range as PartialRangeFrom<Held.Bound>: lower = bound(range.lowerBound)
        case let range as PartialRangeUpTo<Held.Bound>: upper = bound(range.upperBound)
        case let range as PartialRangeThrough<Held.Bound>: (upper, isClosed) = (bound(range.upperBound), true)
        default: return nil
        }
        guard lower != nil || upper != nil else { return nil }
    }
}

private protocol WrittenRange {
    func bounds(in translation: inout PredicateTranslation) throws -> RangeBounds
}

extension PredicateExpressions.Range: WrittenRange {
    fileprivate func bounds(in translation: inout PredicateTranslation) throws -> RangeBounds {
        RangeBounds(lower: try translation.value(lower), upper: try translation.value(upper), isClosed: false)
    }
}

extension PredicateExpressions.ClosedRange: WrittenRange {
    fileprivate func bounds(in translation: inout PredicateTranslation) throws -> RangeBounds {
        RangeBounds(lower: try translation.value(lower), upper: try translation.value(upper), isClosed: true)
    }
}
