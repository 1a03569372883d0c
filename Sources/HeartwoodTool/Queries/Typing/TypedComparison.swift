import Heartwood

/// A comparison whose constants become values of the other side's type. A day, a month or a year stands for all of its times: `==` finds each of
/// them, `<` those before, `>` those behind, BETWEEN those from the first one's beginning to the last one's end.
struct TypedComparison {
    typealias Read = (PredicateValue, ComparedType) throws -> ComparedConstant

    private let comparison: PredicateNode.Comparison
    private let types: ComparedTypes
    private let read: Read

    init(_ comparison: PredicateNode.Comparison, _ types: ComparedTypes, _ read: @escaping Read) {
        var comparison = comparison
        (comparison.left, comparison.right) = (types.reachingElement(comparison.left), types.reachingElement(comparison.right))
        (self.comparison, self.types, self.read) = (comparison, types, read)
    }

    var node: PredicateNode {
        get throws {
            let left = types.type(of: comparison.left), right = types.type(of: comparison.right)
            try refuseTextOperator(left, right)
            if let left, comparison.right.hasConstants { return try constantsAtRight(left) }
            if let right, comparison.left.hasConstants { return try constantsAtLeft(right) }
            return .comparison(comparison)
        }
    }

    // MARK: Operators

    /// Such a comparison would find nothing.
    private func refuseTextOperator(_ left: ComparedType?, _ right: ComparedType?) throws {
        let name = comparison.comparison.rawValue
        switch comparison.comparison {
        case .contains where left?.isMany == true || comparison.left.members != nil: return
        case .contains, .beginsWith, .endsWith, .like, .matches: break
        case .isIn:
            guard let right, !right.isMany, !right.isText, !right.isUnknown else { return }
            throw ToolError.usage("\(right.name) is \(right.description), and IN takes a list")
        default: return
        }
        guard let wrong = [left, right].lazy.compactMap({ $0 }).first(where: { !$0.isText && !$0.isUnknown }) else { return }
        throw ToolError.usage("\(wrong.name) is \(wrong.description), and \(name) compares texts")
    }

    private func with(
        _ left: ExpressionNode, _ name: PredicateNode.Operator, _ right: ExpressionNode, _ modifier: PredicateNode.Modifier? = nil
    ) -> PredicateNode {
        .comparison(PredicateNode.Comparison(
            left: left, comparison: name, right: right, modifier: modifier ?? comparison.modifier, options: comparison.options))
    }

    // MARK: Constants at the right

    private func constantsAtRight(_ type: ComparedType) throws -> PredicateNode {
        switch (comparison.comparison, comparison.right.members) {
        case (.isIn, let members?): return try isIn(members, type)
        case (.between, let bounds?) where bounds.count == 2:
            let first = try bound(bounds[0], type) { $0.first }, last = try bound(bounds[1], type) { $0.last }
            return with(comparison.left, .between, [first, last].list)
        default: break
        }
        guard case .constant(let value) = comparison.right, case .span(let first, let last) = try read(value, type) else {
            return with(comparison.left, comparison.comparison, try converted(comparison.right, type))
        }
        return try compare(comparison.left, comparison.comparison, (first, last), comparison.modifier, type)
    }

    private func bound(_ node: ExpressionNode, _ type: ComparedType, _ side: ((first: Double, last: Double)) -> Double) throws -> ExpressionNode {
        guard case .constant(let value) = node, case .span(let first, let last) = try read(value, type) else { return try converted(node, type) }
        return .constant(.date(side((first, last))))
    }

    private func compare(
        _ left: ExpressionNode, _ name: PredicateNode.Operator, _ span: (first: Double, last: Double), _ modifier: PredicateNode.Modifier,
        _ type: ComparedType
    ) throws -> PredicateNode {
        switch name {
        case .equal: return within(left, span, modifier)
        // An object without a date differs from each day.
        case .notEqual: return .not(within(left, span, modifier.opposite))
        case .contains: return within(left, span, .any)
        case .less, .greaterOrEqual: return with(left, name, .constant(.date(span.first)), modifier)
        case .lessOrEqual, .greater: return with(left, name, .constant(.date(span.last)), modifier)
        default: throw Self.needsTime(type)
        }
    }

    private func within(_ left: ExpressionNode, _ span: (first: Double, last: Double), _ modifier: PredicateNode.Modifier) -> PredicateNode {
        with(left, .between, .constant(.collection([.date(span.first), .date(span.last)])), modifier)
    }

    private func isIn(_ members: [ExpressionNode], _ type: ComparedType) throws -> PredicateNode {
        var values: [ExpressionNode] = [], parts: [PredicateNode] = []
        for member in members {
            if case .constant(let value) = member, case .span(let first, let last) = try read(value, type) {
                parts.append(within(comparison.left, (first, last), comparison.modifier))
            } else {
                values.append(try converted(member, type))
            }
        }
        if parts.isEmpty || !values.isEmpty { parts.append(with(comparison.left, .isIn, values.list)) }
        guard parts.count > 1 else { return parts[0] }
        // Each value may be in another one of the days.
        guard comparison.modifier != .all else { throw Self.needsTime(type) }
        return .or(parts)
    }

    // MARK: Constants at the left

    private func constantsAtLeft(_ type: ComparedType) throws -> PredicateNode {
        let name = comparison.comparison, right = comparison.right
        guard comparison.modifier == .direct, case .constant(let value) = comparison.left, case .span(let first, let last) = try read(value, type)
        else { return with(try converted(comparison.left, type), name, right) }
        let span = (first: first, last: last)
        switch (name, right.members) {
        case (.isIn, let members?): return .or(try members.map { try compare($0, .equal, span, .direct, type) })
        case (.isIn, nil): return within(right, span, .any)
        case (.between, let bounds?) where bounds.count == 2:
            return .and([
                try compare(bounds[0], .lessOrEqual, span, .direct, type), try compare(bounds[1], .greaterOrEqual, span, .direct, type),
            ])
        default: return try compare(right, name.mirrored, span, .direct, type)
        }
    }

    // MARK: Values

    private static func needsTime(_ type: ComparedType) -> ToolError {
        .usage("\(type.name) is compared here with a time: write the hour as well, as 2024-02-29T12:30:00Z")
    }

    /// The expression with its constants read.
    private func converted(_ node: ExpressionNode, _ type: ComparedType) throws -> ExpressionNode {
        switch node {
        case .constant(let value): .constant(try converted(value, type))
        case .aggregate(let list): try list.map { try converted($0, type) }.list
        case .conditional(let predicate, let first, let second):
            .conditional(predicate, try converted(first, type), try converted(second, type))
        default: node
        }
    }

    private func converted(_ value: PredicateValue, _ type: ComparedType) throws -> PredicateValue {
        if let members = value.members { return .collection(try members.map { try converted($0, type) }) }
        guard case .value(let found) = try read(value, type) else { throw Self.needsTime(type) }
        return found
    }
}

extension ComparedType {
    /// Whether the type admits any value.
    fileprivate var isUnknown: Bool {
        guard case .value(let type) = kind else { return false }
        return AttributeTextForm.comparison(type) == .anything
    }
}

extension ExpressionNode {
    fileprivate var hasConstants: Bool {
        switch self {
        case .constant: true
        case .aggregate(let members): members.contains(where: \.hasConstants)
        case .conditional(_, let first, let second): first.hasConstants || second.hasConstants
        default: false
        }
    }

    /// The members of a list that is written in the predicate.
    fileprivate var members: [ExpressionNode]? {
        switch self {
        case .aggregate(let members): members
        case .constant(.collection(let members)): members.map(ExpressionNode.constant)
        default: nil
        }
    }
}

extension [ExpressionNode] {
    /// One constant, if all members are constants, since indexes answer it.
    fileprivate var list: ExpressionNode { constants.map { .constant(.collection($0)) } ?? .aggregate(self) }
}

extension PredicateNode.Modifier {
    fileprivate var opposite: Self {
        switch self {
        case .direct: .direct
        case .any: .all
        case .all: .any
        }
    }
}

extension PredicateNode.Operator {
    /// The operator with its sides exchanged.
    fileprivate var mirrored: Self {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }
}
