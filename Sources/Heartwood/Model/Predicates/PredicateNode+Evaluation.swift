import Foundation

/// An object whose values key paths in a predicate read.
package protocol PredicateSubject {
    func predicateValue(forKey key: String) -> Any?
}

/// Every object has its entity under the key `entity`, unless its entity has a property with that name.
extension NSEntityDescription: PredicateSubject {
    package func predicateValue(forKey key: String) -> Any? { key == "name" ? name : nil }
}

/// The input of an evaluation: an object, dictionary or value in memory, and the values of variables.
struct PredicateScope {
    let subject: Any?
    var variables: [String: Any] = [:]
}

extension PredicateNode {
    /// - Throws: `PredicateFault` if the predicate cannot be evaluated, or if a regular expression takes too many steps.
    func evaluate(_ subject: Any?) throws -> Bool { try evaluate(PredicateScope(subject: subject)) }

    func evaluate(_ scope: PredicateScope) throws -> Bool {
        switch self {
        case .constant(let value): return value
        case .and(let parts):
            for part in parts where try !part.evaluate(scope) { return false }
            return true
        case .or(let parts):
            for part in parts where try part.evaluate(scope) { return true }
            return false
        case .not(let part): return try !part.evaluate(scope)
        case .comparison(let comparison): return try comparison.evaluate(scope)
        case .words(let condition): return try condition.evaluate(scope)
        case .block(let block): return block.evaluate(scope.subject, scope.variables)
        case .fault(let fault): throw fault
        }
    }
}

extension PredicateNode.Comparison {
    func evaluate(_ scope: PredicateScope) throws -> Bool {
        let a = try left.value(scope), b = try right.value(scope)
        guard modifier != .direct else { return try holds(a, b) }
        for member in a.listed ?? (a.isNull ? [] : [a]) where try holds(member, b) == (modifier == .any) { return modifier == .any }
        return modifier == .all
    }

    /// Null equals only null, differs from every value, and has no order.
    func holds(_ a: PredicateValue, _ b: PredicateValue) throws -> Bool {
        switch comparison {
        case .equal: return try isEqual(a, b)
        case .notEqual: return try !isEqual(a, b)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            if !options.effective.isEmpty, a.comparedText != nil, b.comparedText != nil { return try matchesText(a, b) }
            guard let order = a.ordered(b) else { return false }
            switch comparison {
            case .less: return order == .orderedAscending
            case .lessOrEqual: return order != .orderedDescending
            case .greater: return order == .orderedDescending
            default: return order != .orderedAscending
            }
        case .between:
            guard let range = b.members, range.count == 2 else { return false }
            return try with(.greaterOrEqual).holds(a, range[0]) && with(.lessOrEqual).holds(a, range[1])
        case .isIn:
            if case .text(let part) = a, case .text(let whole) = b {
                return try TextMatcher(kind: .contains, part, options: options).matches(whole)
            }
            return try b.listed.map { try contains(a, in: $0, isConstant: right.isConstant) } ?? false
        case .contains:
            if let members = a.listed { return try contains(b, in: members, isConstant: left.isConstant) }
            return try matchesText(a, b)
        case .beginsWith, .endsWith, .like, .matches: return try matchesText(a, b)
        }
    }

    func with(_ found: PredicateNode.Operator) -> PredicateNode.Comparison {
        var result = self
        result.comparison = found
        return result
    }

    func with(right: ExpressionNode) -> PredicateNode.Comparison {
        var result = self
        result.right = right
        return result
    }

    /// - Parameter isConstant: whether the list is the same for all objects. Another one is not kept: it may have objects of a context.
    private func contains(_ value: PredicateValue, in list: [PredicateValue], isConstant: Bool) throws -> Bool {
        guard isConstant, let members = cache.members(list, options) else { return try list.contains { try isEqual(value, $0) } }
        return try members.contains(value, isEqual)
    }

    func isEqual(_ a: PredicateValue, _ b: PredicateValue) throws -> Bool {
        if !options.effective.isEmpty, let x = a.comparedText, let y = b.comparedText {
            return try TextMatcher(kind: .order(.equal), y, options: options).matches(x)
        }
        return a.isEqual(b)
    }

    private func matchesText(_ a: PredicateValue, _ b: PredicateValue) throws -> Bool {
        guard let text = a.comparedText, let pattern = b.comparedText else { return false }
        return try cache.matcher(comparison, pattern, options: options)?.matches(text) ?? false
    }
}
