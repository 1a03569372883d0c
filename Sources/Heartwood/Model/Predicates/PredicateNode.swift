import Foundation

/// A predicate as a tree. The parser makes it, objects in memory are evaluated with it, and a store compiles it.
package indirect enum PredicateNode {
    case constant(Bool)
    case and([PredicateNode])
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(Comparison)
    /// A search for words, which a fetch request adds to its predicate.
    case words(WordCondition)
    /// In memory only.
    case block(BlockBody)
    /// A predicate built in code that cannot be evaluated, with the reason.
    case fault(PredicateFault)

    package struct Comparison {
        package var left: ExpressionNode
        package var comparison: Operator
        package var right: ExpressionNode
        package var modifier = Modifier.direct
        package var options: Options = []
        /// What is made once for a constant side.
        let cache = ComparisonCache()

        package init(
            left: ExpressionNode, comparison: Operator, right: ExpressionNode, modifier: Modifier = .direct, options: Options = []
        ) {
            self.left = left
            self.comparison = comparison
            self.right = right
            self.modifier = modifier
            self.options = options
        }
    }

    package enum Operator: String, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case isIn = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
    }

    /// The treatment of a collection on a comparison's left side.
    package enum Modifier: String {
        case direct = ""
        case any = "ANY"
        case all = "ALL"
    }

    package struct Options: OptionSet, Hashable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        static let caseInsensitive = Options(rawValue: 1)
        static let diacriticInsensitive = Options(rawValue: 2)
        static let normalized = Options(rawValue: 4)
        static let localeSensitive = Options(rawValue: 8)

        /// The options without those that `[n]` overrides.
        package var effective: Options { contains(.normalized) ? [] : self }
    }

    /// The most levels. Parsing or building a deeper tree fails, so that recursion over a tree cannot exhaust the stack.
    static let depthMax = 400
}

/// The reason why a predicate cannot be evaluated.
package struct PredicateFault: Error, CustomStringConvertible {
    let reason: String
    /// Whether the program is at fault, not a value that it was given.
    var isMisuse = false

    package var description: String { reason }

    static let tooDeep = PredicateFault(
        reason: "The predicate is nested deeper than \(PredicateNode.depthMax) levels; give one compound all of its parts instead.")
    static let longPath = PredicateFault(reason: "a key path has more than \(PredicateKeyPath.keysMax) keys")
    static let emptyKey = PredicateFault(reason: "a key is empty")
}

/// One side of a comparison.
package indirect enum ExpressionNode {
    case constant(PredicateValue)
    /// Keys, which may be collection operators such as `@count`; empty for SELF.
    case keyPath([String])
    /// Keys applied to another expression's value.
    case path(ExpressionNode, [String])
    case aggregate([ExpressionNode])
    case variable(String)
    case call(PredicateFunction, [ExpressionNode])
    case set(SetOperation, ExpressionNode, ExpressionNode)
    /// The members of a collection that meet a predicate. The variable has each member as its value in turn.
    case subquery(ExpressionNode, variable: String, PredicateNode)
    case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    /// In memory only.
    case block(ExpressionBlock, [ExpressionNode])
    /// An expression built in code that cannot be evaluated, with the reason.
    case fault(PredicateFault)

    package enum SetOperation: String, CaseIterable {
        case union = "UNION"
        case intersect = "INTERSECT"
        case minus = "MINUS"
    }
}

/// The block of an expression, a method that FUNCTION calls on its first argument's value, or the fetch of a FETCH.
package final class ExpressionBlock {
    let body: (Any?, [Any], NSMutableDictionary?) -> Any
    /// nil for a block.
    let invocation: Invocation?

    enum Invocation {
        case method(String)
        case fetch
    }

    init(_ body: @escaping (Any?, [Any], NSMutableDictionary?) -> Any) {
        self.body = body
        invocation = nil
    }

    init(_ invocation: Invocation) {
        body = { _, _, _ in NSNull() }
        self.invocation = invocation
    }
}

extension [ExpressionNode] {
    /// The values of the expressions; nil if one is no constant.
    package var constants: [PredicateValue]? {
        var values: [PredicateValue] = []
        for item in self {
            guard case .constant(let value) = item else { return nil }
            values.append(value)
        }
        return values
    }
}
