import Synchronization

/// A parsed format with placeholders for its arguments.
final class FormatTemplate: @unchecked Sendable {
    // Unchecked: a parsed tree is immutable except for the caches of its comparisons, and each filled tree has its own.

    /// A placeholder for an argument in a tree.
    final class Placeholder {
        let index: Int
        var conversion = FormatConversion("@")

        init(_ index: Int) {
            self.index = index
        }
    }

    /// Unique among formats.
    let number: Int
    let argumentCount: Int
    /// The number of the tree's levels, which does not depend on the arguments.
    let depth: Int
    /// The tree with its placeholders.
    let model: PredicateNode
    /// The most common format: a comparison of a key path with the only argument. No argument that fits the conversion can make it faulty.
    private let single: PredicateNode.Comparison?
    private let singleConversion: FormatConversion?
    /// The key, if the format is just `key == %@`.
    let equalKey: String?
    /// The comparisons that must all hold, if the format is nothing but comparisons of key paths with values; nil for other formats. Stores keep
    /// plans for these; see `PlanTemplate`.
    let conditions: [Condition]?

    /// A comparison of a key path with a value.
    struct Condition {
        let keys: [String]
        let comparison: PredicateNode.Comparison
        /// The argument's index; nil for a value that the format states.
        let argument: Int?
        /// Which end of the argument, a pair of ends, is the value; nil where the argument itself is.
        var element: Int?

        /// The value in a tree of the format.
        func value(in tree: PredicateTree) -> PredicateValue {
            if let argument { return tree.value(argument, element) }
            guard case .constant(let value) = comparison.right else { return .null }
            return value
        }
    }

    private static let made = Atomic(0)

    init(_ model: PredicateNode, argumentCount: Int) {
        self.model = model
        self.argumentCount = argumentCount
        number = Self.made.add(1, ordering: .relaxed).newValue
        depth = model.depth
        conditions = Self.conditions(of: model)
        guard argumentCount == 1, case .comparison(let comparison) = model, case .keyPath(let keys) = comparison.left,
            case .constant(.other(let object)) = comparison.right, let placeholder = object as? Placeholder, !comparison.comparison.hasFaults
        else {
            (single, singleConversion, equalKey) = (nil, nil, nil)
            return
        }
        (single, singleConversion) = (comparison, placeholder.conversion)
        equalKey = comparison.isPlainEquality && keys.count == 1 ? keys[0] : nil
    }

    /// - Returns: nil if the tree is more than comparisons of key paths with values, joined by AND.
    private static func conditions(of node: PredicateNode) -> [Condition]? {
        switch node {
        case .and(let parts):
            var result: [Condition] = []
            for part in parts {
                guard let inner = conditions(of: part) else { return nil }
                result += inner
            }
            return result
        case .comparison(let comparison):
            guard case .keyPath(let keys) = comparison.left else { return nil }
            return comparison.comparison == .between ? ends(keys, comparison) : condition(keys, comparison, comparison.right).map { [$0] }
        default: return nil
        }
    }

    private static func condition(_ keys: [String], _ comparison: PredicateNode.Comparison, _ value: ExpressionNode) -> Condition? {
        switch value {
        case .constant(.other(let object)): return (object as? Placeholder).map { Condition(keys: keys, comparison: comparison, argument: $0.index) }
        case .constant: return Condition(keys: keys, comparison: comparison.with(right: value), argument: nil)
        case .aggregate(let list):
            guard let values = list.constants, !values.contains(where: \.isOther) else { return nil }
            return Condition(keys: keys, comparison: comparison.with(right: .constant(.collection(values))), argument: nil)
        default: return nil
        }
    }

    /// The two comparisons that BETWEEN stands for; see `PredicateCompiler.column`.
    private static func ends(_ keys: [String], _ comparison: PredicateNode.Comparison) -> [Condition]? {
        // Of several members, one must be between both ends.
        guard comparison.modifier == .direct else { return nil }
        let lower = comparison.with(.greaterOrEqual), upper = comparison.with(.lessOrEqual)
        switch comparison.right {
        case .aggregate(let list):
            guard list.count == 2, let low = condition(keys, lower, list[0]), let high = condition(keys, upper, list[1]) else { return nil }
            return [low, high]
        case .constant(.other(let object)):
            guard let pair = object as? Placeholder else { return nil }
            return [lower, upper].enumerated().map { Condition(keys: keys, comparison: $1, argument: pair.index, element: $0) }
        default: return nil
        }
    }

    /// Whether the format is one comparison of a key path with the only argument, which no such argument makes faulty.
    var isSingle: Bool { single != nil }

    /// Whether `filled(with:)` accepts this argument.
    func takes(_ value: PredicateValue) -> Bool {
        guard let singleConversion, !value.isOther else { return false }
        return singleConversion.takes(value)
    }

    /// - Precondition: `takes` returns true for the value.
    func filled(with value: PredicateValue) -> PredicateNode {
        guard let model = single else { preconditionFailure("the template has one placeholder") }
        return .comparison(PredicateNode.Comparison(
            left: model.left, comparison: model.comparison, right: .constant(value), modifier: model.modifier, options: model.options))
    }

    /// Returns the tree with the arguments in place, and the arguments as values.
    /// - Returns: nil if the format must be parsed.
    func filled(with arguments: [Any?]) -> (node: PredicateNode, values: [PredicateValue])? {
        guard arguments.count == argumentCount else { return nil }
        var values: [PredicateValue] = []
        for argument in arguments {
            let value = PredicateValue(argument)
            if value.isOther { return nil }
            values.append(value)
        }
        return filled(withValues: values).map { ($0, values) }
    }

    /// Returns the tree with values in place of the arguments.
    /// - Returns: nil if the format must be parsed.
    func filled(withValues values: [PredicateValue]) -> PredicateNode? {
        var fits = true
        let node = model.rewriting { node, _ in
            switch node {
            case .constant(.other(let object)):
                guard let placeholder = object as? Placeholder else { return node }
                fits = fits && placeholder.conversion.takes(values[placeholder.index])
                return .constant(values[placeholder.index])
            case .subquery(_, _, let predicate), .conditional(let predicate, _, _): fits = fits && !predicate.hasFaultyComparison
            default: break
            }
            return node
        }
        return fits && !node.hasFaultyComparison ? node : nil
    }
}

extension PredicateValue {
    /// Whether this is, or contains, a value that needs its own check before a fetch; see `PredicateCheck`.
    fileprivate var isOther: Bool {
        switch self {
        case .other: true
        case .collection(let members): members.contains(where: \.isOther)
        default: false
        }
    }
}

extension PredicateNode.Comparison {
    /// Whether this is an equality without modifier and options.
    var isPlainEquality: Bool { comparison == .equal && modifier == .direct && options.isEmpty }
}

extension PredicateNode.Operator {
    /// Whether some constants are invalid for it; see `Comparison.fault`.
    fileprivate var hasFaults: Bool {
        switch self {
        case .between, .isIn, .matches: true
        default: false
        }
    }
}

extension PredicateNode {
    /// Whether parsing would refuse one of the comparisons for its constants. Comparisons inside expressions are not examined.
    fileprivate var hasFaultyComparison: Bool {
        switch self {
        case .constant, .words, .block, .fault: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasFaultyComparison)
        case .not(let part): part.hasFaultyComparison
        case .comparison(let comparison): comparison.fault != nil
        }
    }
}
