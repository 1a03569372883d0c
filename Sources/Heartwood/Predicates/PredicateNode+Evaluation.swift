import Foundation

/// What key paths in a predicate are asked of.
protocol PredicateSubject {
    func predicateValue(forKey key: String) -> Any?
}

extension PredicateNode {
    /// Evaluates the predicate on an object, dictionary or value in memory.
    func evaluate(_ subject: Any?) -> Bool {
        switch self {
        case .constant(let value): return value
        case .and(let parts): return parts.allSatisfy { $0.evaluate(subject) }
        case .or(let parts): return parts.contains { $0.evaluate(subject) }
        case .not(let part): return !part.evaluate(subject)
        case .comparison(let comparison): return comparison.evaluate(subject)
        }
    }
}

extension PredicateNode.Comparison {
    fileprivate func evaluate(_ subject: Any?) -> Bool {
        let a = left.value(subject), b = right.value(subject)
        switch modifier {
        case .direct: return holds(a, b)
        case .any: return (a.members ?? (a.isNull ? [] : [a])).contains { holds($0, b) }
        case .all: return (a.members ?? (a.isNull ? [] : [a])).allSatisfy { holds($0, b) }
        }
    }

    /// Null: equal to null alone, different from every value, in no order.
    private func holds(_ a: PredicateValue, _ b: PredicateValue) -> Bool {
        switch comparison {
        case .equal, .notEqual:
            let isEqual: Bool
            if !options.isEmpty, case .text(let x) = a, case .text(let y) = b {
                isEqual = TextMatcher(kind: .order(.equal), y, options: options).matches(x)
            } else {
                isEqual = a.isEqual(b)
            }
            return isEqual == (comparison == .equal)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            if !options.isEmpty, case .text(let x) = a, case .text(let y) = b {
                return TextMatcher(comparison, y, options: options)?.matches(x) ?? false
            }
            guard let order = a.ordered(b) else { return false }
            switch comparison {
            case .less: return order == .orderedAscending
            case .lessOrEqual: return order != .orderedDescending
            case .greater: return order == .orderedDescending
            default: return order != .orderedAscending
            }
        case .between:
            guard let range = b.members, range.count == 2, let low = a.ordered(range[0]), let high = a.ordered(range[1]) else { return false }
            return low != .orderedAscending && high != .orderedDescending
        case .isIn:
            if case .text(let part) = a, case .text(let whole) = b {
                return TextMatcher(kind: .contains, part, options: options).matches(whole)
            }
            return b.members?.contains { isEqual(a, $0) } ?? false
        case .contains:
            if let members = a.members { return members.contains { isEqual($0, b) } }
            return matchesText(a, b)
        case .beginsWith, .endsWith, .like, .matches: return matchesText(a, b)
        }
    }

    private func isEqual(_ a: PredicateValue, _ b: PredicateValue) -> Bool {
        if !options.isEmpty, case .text(let x) = a, case .text(let y) = b {
            return TextMatcher(kind: .order(.equal), y, options: options).matches(x)
        }
        return a.isEqual(b)
    }

    private func matchesText(_ a: PredicateValue, _ b: PredicateValue) -> Bool {
        guard case .text(let text) = a, case .text(let pattern) = b else { return false }
        return TextMatcher(comparison, pattern, options: options)?.matches(text) ?? false
    }
}

extension ExpressionNode {
    func value(_ subject: Any?) -> PredicateValue {
        switch self {
        case .constant(let value): value
        case .aggregate(let list): .collection(list.map { $0.value(subject) })
        case .variable: .null
        case .keyPath(let keys): Self.value(of: keys[...], subject)
        }
    }

    private static func value(of keys: ArraySlice<String>, _ subject: Any?) -> PredicateValue {
        guard let key = keys.first else { return PredicateValue(subject) }
        let rest = keys.dropFirst()
        if key.hasPrefix("@") { return collect(key, rest, PredicateValue(subject).members ?? []) }
        if let members = members(of: subject) {
            return .collection(members.flatMap { member -> [PredicateValue] in
                let value = value(of: keys, member)
                return value.isNull ? [] : value.members ?? [value]
            })
        }
        switch subject {
        case let subject as any PredicateSubject: return value(of: rest, subject.predicateValue(forKey: key))
        case let subject as [String: Any]: return value(of: rest, subject[key])
        case let subject as NSDictionary: return value(of: rest, subject.object(forKey: key))
        case let text as String where key == "length": return value(of: rest, text.utf16.count)
        default: return .null
        }
    }

    private static func members(of subject: Any?) -> [Any]? {
        switch subject {
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: set.array
        case let array as NSArray: array.map { $0 }
        case let array as [Any]: array
        default: nil
        }
    }

    /// A collection operator over the members, by the rest of the path.
    private static func collect(_ name: String, _ rest: ArraySlice<String>, _ members: [PredicateValue]) -> PredicateValue {
        if name == "@count" { return .integer(Int64(members.count)) }
        let values = members.compactMap { member -> PredicateValue? in
            let value = value(of: rest, member.subject)
            return value.isNull ? nil : value
        }
        switch name {
        case "@min": return values.reduce(.null) { $0.isNull || $1.ordered($0) == .orderedAscending ? $1 : $0 }
        case "@max": return values.reduce(.null) { $0.isNull || $1.ordered($0) == .orderedDescending ? $1 : $0 }
        case "@sum": return .double(values.reduce(0) { $0 + $1.number })
        case "@avg": return values.isEmpty ? .null : .double(values.reduce(0) { $0 + $1.number } / Double(values.count))
        default: return .null
        }
    }
}

extension PredicateValue {
    /// What further keys are asked of.
    fileprivate var subject: Any? {
        switch self {
        case .object(let object): object
        case .null: nil
        default: self
        }
    }

    fileprivate var number: Double {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        case .bool(let value): value ? 1 : 0
        default: 0
        }
    }
}
