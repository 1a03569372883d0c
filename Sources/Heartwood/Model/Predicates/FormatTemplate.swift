import Synchronization

/// A format that was parsed, with places for its arguments.
final class FormatTemplate: @unchecked Sendable {
    // Unchecked: nothing in a parsed tree changes but the matchers of its comparisons, which are the filled tree's own.

    /// Stands for an argument in a tree.
    final class Place {
        let index: Int
        var conversion = FormatConversion("@")

        init(_ index: Int) {
            self.index = index
        }
    }

    /// No other format ever has it.
    let number: Int
    let argumentCount: Int
    /// A tree's levels, whatever its arguments.
    let depth: Int
    private let model: PredicateNode
    /// A comparison of a key path with the one argument, which no value that converts can make faulty: the commonest format.
    private let single: PredicateNode.Comparison?
    private let singleConversion: FormatConversion?
    /// The key of `key == %@`, where the format says nothing else.
    private let equalKey: String?

    private static let made = Atomic(0)

    init(_ model: PredicateNode, argumentCount: Int) {
        self.model = model
        self.argumentCount = argumentCount
        number = Self.made.add(1, ordering: .relaxed).newValue
        depth = model.depth
        guard argumentCount == 1, case .comparison(let comparison) = model, case .keyPath(let keys) = comparison.left,
            case .constant(.other(let object)) = comparison.right, let place = object as? Place, !comparison.comparison.hasFaults
        else {
            (single, singleConversion, equalKey) = (nil, nil, nil)
            return
        }
        (single, singleConversion) = (comparison, place.conversion)
        equalKey = comparison.isPlainEquality && keys.count == 1 ? keys[0] : nil
    }

    /// Whether `filled(with:)` may be asked for with this argument.
    func takes(_ value: PredicateValue) -> Bool {
        guard let singleConversion, !value.isOther else { return false }
        return singleConversion.takes(value)
    }

    /// - Precondition: `takes` says so.
    func filled(with value: PredicateValue) -> PredicateNode {
        guard let model = single else { preconditionFailure("the template has one place") }
        return .comparison(PredicateNode.Comparison(
            left: model.left, comparison: model.comparison, right: .constant(value), modifier: model.modifier, options: model.options))
    }

    /// What `filled(with:)` would say, where that is that a key has a value and no more.
    func equality(with value: PredicateValue) -> (key: String, value: PredicateValue)? { equalKey.map { ($0, value) } }

    /// Whether that is said of a key.
    func isEquality(of key: String) -> Bool { equalKey == key }

    /// - Returns: nil where the format has to be parsed.
    func filled(with arguments: [Any?]) -> PredicateNode? {
        guard arguments.count == argumentCount else { return nil }
        var values: [PredicateValue] = []
        for argument in arguments {
            let value = PredicateValue(argument)
            if value.isOther { return nil }
            values.append(value)
        }
        var fits = true
        let node = model.rewriting { node, _ in
            switch node {
            case .constant(.other(let object)):
                guard let place = object as? Place else { return node }
                fits = fits && place.conversion.takes(values[place.index])
                return .constant(values[place.index])
            case .subquery(_, _, let predicate), .conditional(let predicate, _, _): fits = fits && !predicate.hasFaultyComparison
            default: break
            }
            return node
        }
        return fits && !node.hasFaultyComparison ? node : nil
    }
}

extension PredicateValue {
    /// Whether it is, or has among its members, what only a check of its own allows in a fetch; see `PredicateCheck`.
    fileprivate var isOther: Bool {
        switch self {
        case .other: true
        case .collection(let members): members.contains(where: \.isOther)
        default: false
        }
    }
}

extension PredicateNode.Comparison {
    /// Whether it says that one side equals the other, and nothing about how.
    var isPlainEquality: Bool { comparison == .equal && modifier == .direct && options.isEmpty }
}

extension PredicateNode.Operator {
    /// Whether some constants do not suit it; see `Comparison.fault`.
    fileprivate var hasFaults: Bool {
        switch self {
        case .between, .isIn, .matches: true
        default: false
        }
    }
}

extension PredicateNode {
    /// Whether parsing would refuse one of its comparisons for what is constant in it; those inside expressions left out.
    fileprivate var hasFaultyComparison: Bool {
        switch self {
        case .constant, .block, .fault: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasFaultyComparison)
        case .not(let part): part.hasFaultyComparison
        case .comparison(let comparison): comparison.fault != nil
        }
    }
}
