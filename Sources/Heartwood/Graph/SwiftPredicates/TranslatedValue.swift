import Foundation

/// A value in a Swift predicate, as an expression.
struct TranslatedValue {
    var node: ExpressionNode
    /// The value that stands for null, from an accessor or from `??`.
    var ifNull: PredicateValue?
    /// An optional before it in the path. If that is null, this value is null too, and `ifNull` is not used.
    var owner: ExpressionNode?
    /// The entity of the object or of the collection's members.
    var entity: NSEntityDescription?
    /// True for collections and counts.
    var isNeverNull = false
    var isCollection = false
    /// Where the object is behind `as?`: when it is nil although the store has an object.
    var cast: Cast?

    init(_ node: ExpressionNode, entity: NSEntityDescription? = nil) {
        self.node = node
        self.entity = entity
        if let constant = node.constant { isNeverNull = !constant.isNull }
    }

    static func constant(_ value: PredicateValue) -> TranslatedValue { TranslatedValue(.constant(value)) }

    /// The value; `ifNull` where the value is null.
    var whole: ExpressionNode {
        if let cast { return .conditional(cast.test, node, .constant(.null)) }
        guard let ifNull, !isNeverNull else { return node }
        return .conditional(isReplaced, .constant(ifNull), node)
    }

    /// Whether `ifNull` is used.
    private var isReplaced: PredicateNode {
        guard let owner else { return node.isNull }
        return .joining([node.isNull, .negating(owner.isNull)], isAnd: true)
    }

    /// Whether the value is nil in Swift.
    var isNil: PredicateNode {
        if let cast { return .negating(cast.test) }
        if isNeverNull || ifNull != nil && owner == nil { return .constant(false) }
        return ifNull == nil ? node.isNull : owner?.isNull ?? node.isNull
    }

    /// A comparison with Swift's meaning. A comparison with a constant stays one that an index may serve; if the constant distinguishes null from
    /// `ifNull`, a test for null is added.
    func compared(_ comparison: PredicateNode.Operator, _ other: TranslatedValue, options: PredicateNode.Options = []) -> PredicateNode {
        if node.constant != nil, other.ifNull != nil, let mirrored = comparison.mirrored {
            return other.compared(mirrored, self, options: options)
        }
        // An object that another class has is none of those that the type of the constant allows.
        if cast != nil, other.node.constant?.isNull == false { return withoutCast.compared(comparison, other, options: options) }
        guard let ifNull, !isNeverNull, let constant = other.node.constant else {
            return .comparison(.init(left: whole, comparison: comparison, right: other.whole, options: options))
        }
        func holds(_ value: PredicateValue) -> Bool {
            let test = PredicateNode.Comparison(left: node, comparison: comparison, right: other.node, options: options)
            return (try? test.holds(value, constant)) ?? false
        }
        let plain = PredicateNode.comparison(.init(left: node, comparison: comparison, right: other.node, options: options))
        let wanted = holds(ifNull)
        guard holds(.null) != wanted else { return plain }
        return wanted ? .joining([plain, isReplaced], isAnd: false) : .joining([plain, .negating(isReplaced)], isAnd: true)
    }

    /// Whether the value is at least `lower` and less than `upper`. Tests both bounds first, and then null if `ifNull` is in the range.
    func lies(from lower: PredicateValue, below upper: PredicateValue) -> PredicateNode {
        var bare = self
        bare.ifNull = nil
        let plain = PredicateNode.joining(
            [bare.compared(.greaterOrEqual, .constant(lower)), bare.compared(.less, .constant(upper))], isAnd: true)
        guard let ifNull, !isNeverNull, let low = ifNull.ordered(lower), low != .orderedAscending,
            ifNull.ordered(upper) == .orderedAscending
        else { return plain }
        return .joining([plain, isReplaced], isAnd: false)
    }

    /// The value of a key path that starts at this value.
    func appending(_ keys: [String]) -> ExpressionNode {
        guard !keys.isEmpty else { return node }
        switch node {
        case .keyPath(let known): return .keyPath(known + keys)
        case .path(let base, let known): return .path(base, known + keys)
        default: return .path(node, keys)
        }
    }
}

/// A part of a Swift predicate: a value, or a condition.
enum Translated {
    case value(TranslatedValue)
    /// `isNil` tells where an optional Boolean has no value; the predicate does not hold there.
    case truth(PredicateNode, isNil: PredicateNode? = nil)

    var asPredicate: PredicateNode {
        switch self {
        case .truth(let node, _): return node
        case .value(let value):
            if case .bool(let flag) = value.node.constant { return .constant(flag) }
            return value.compared(.equal, .constant(.bool(true)))
        }
    }

    var asValue: TranslatedValue {
        switch self {
        case .value(let value): return value
        case .truth(let node, let isNil):
            let plain = ExpressionNode.conditional(node, .constant(.bool(true)), .constant(.bool(false)))
            return TranslatedValue(isNil.map { .conditional($0, .constant(.null), plain) } ?? plain)
        }
    }

    /// `==` in Swift's meaning: nil equals only nil.
    static func equal(_ a: Translated, _ b: Translated) -> PredicateNode {
        switch (a, b) {
        case (.truth(let node, let isNil), .value(let value)), (.value(let value), .truth(let node, let isNil)):
            switch value.node.constant {
            case .null: return isNil ?? .constant(false)
            case .bool(true): return node
            case .bool(false): return isNil.map { .joining([.negating(node), .negating($0)], isAnd: true) } ?? .negating(node)
            default: return a.asValue.compared(.equal, b.asValue)
            }
        case (.truth(let x, nil), .truth(let y, nil)):
            return .joining(
                [.joining([x, y], isAnd: true), .joining([.negating(x), .negating(y)], isAnd: true)], isAnd: false)
        case (.value(let value), .value(let other)):
            if case .null = other.node.constant { return value.isNil }
            if case .null = value.node.constant { return other.isNil }
            return value.compared(.equal, other)
        default: return a.asValue.compared(.equal, b.asValue)
        }
    }

    static func notEqual(_ a: Translated, _ b: Translated) -> PredicateNode {
        guard case .value(let value) = a, case .value(let other) = b else { return .negating(equal(a, b)) }
        if case .null = other.node.constant { return .negating(value.isNil) }
        if case .null = value.node.constant { return .negating(other.isNil) }
        return value.compared(.notEqual, other)
    }
}

extension PredicateNode {
    /// AND or OR, simplified: constants are evaluated, and nested levels of the same kind are merged.
    static func joining(_ parts: [PredicateNode], isAnd: Bool) -> PredicateNode {
        var list: [PredicateNode] = []
        for part in parts {
            switch part {
            case .constant(isAnd): continue
            case .constant: return .constant(!isAnd)
            case .and(let inner) where isAnd: list += inner
            case .or(let inner) where !isAnd: list += inner
            default: list.append(part)
            }
        }
        return list.isEmpty ? .constant(isAnd) : list.count == 1 ? list[0] : isAnd ? .and(list) : .or(list)
    }

    static func negating(_ node: PredicateNode) -> PredicateNode {
        switch node {
        case .constant(let flag): return .constant(!flag)
        case .not(let part): return part
        case .comparison(let comparison) where comparison.modifier == .direct && comparison.right.constant?.isNull == true:
            // Only for comparisons with null: orders have no simple opposite.
            switch comparison.comparison {
            case .equal: return .comparison(comparison.with(.notEqual))
            case .notEqual: return .comparison(comparison.with(.equal))
            default: return .not(node)
            }
        default: return .not(node)
        }
    }

    /// Whether it is certainly false where the value at a path is null.
    func fails(whenNull path: ExpressionNode) -> Bool {
        switch self {
        case .and(let parts): return parts.contains { $0.fails(whenNull: path) }
        case .or(let parts): return !parts.isEmpty && parts.allSatisfy { $0.fails(whenNull: path) }
        case .comparison(let comparison):
            guard comparison.modifier == .direct, comparison.left.isNull(with: path), let constant = comparison.right.constant else {
                return false
            }
            return (try? comparison.holds(.null, constant)) == false
        case .constant, .not, .words, .block, .fault: return false
        }
    }
}

extension ExpressionNode {
    var isNull: PredicateNode {
        if let constant { return .constant(constant.isNull) }
        return .comparison(.init(left: self, comparison: .equal, right: .constant(.null)))
    }

    /// Whether it is certainly null where the value at a path is null.
    func isNull(with path: ExpressionNode) -> Bool {
        switch (self, path) {
        case (.keyPath(let keys), .keyPath(let start)):
            return !start.isEmpty && keys.starts(with: start) && !keys.contains { $0.hasPrefix("@") }
        case (.path(.variable(let name), let keys), .path(.variable(let other), let start)):
            return name == other && keys.starts(with: start) && !keys.contains { $0.hasPrefix("@") }
        case (.call(let function, let arguments), _):
            switch function {
            case .add, .subtract, .multiply, .divide, .modulus, .length: return arguments.contains { $0.isNull(with: path) }
            default: return false
            }
        default: return false
        }
    }
}
