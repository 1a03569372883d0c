import Foundation

/// A predicate as a tree: what the format language parses to, what evaluates in memory, and what a store compiles.
indirect enum PredicateNode {
    case constant(Bool)
    case and([PredicateNode])
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(Comparison)
    /// In memory only.
    case block(BlockBody)
    /// Built by hand so that it cannot be evaluated, and why.
    case fault(PredicateFault)

    struct Comparison {
        var left: ExpressionNode
        var comparison: Operator
        var right: ExpressionNode
        var modifier = Modifier.direct
        var options: Options = []
        /// The matcher of a constant pattern, made once.
        let prepared = PreparedMatcher()

        init(
            left: ExpressionNode, comparison: Operator, right: ExpressionNode, modifier: Modifier = .direct, options: Options = []
        ) {
            self.left = left
            self.comparison = comparison
            self.right = right
            self.modifier = modifier
            self.options = options
        }
    }

    enum Operator: String {
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

    /// How a comparison treats a collection on its left.
    enum Modifier: String {
        case direct = ""
        case any = "ANY"
        case all = "ALL"
    }

    struct Options: OptionSet, Hashable {
        let rawValue: Int

        static let caseInsensitive = Options(rawValue: 1)
        static let diacriticInsensitive = Options(rawValue: 2)
        static let normalized = Options(rawValue: 4)
        static let localeSensitive = Options(rawValue: 8)

        /// Without those that `[n]` supersedes.
        var effective: Options { contains(.normalized) ? [] : self }
    }

    /// A deeper tree is refused where it is parsed or built, so that no walk can exhaust the stack.
    static let depthMax = 400
}

/// Why a predicate cannot be evaluated.
struct PredicateFault: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }

    static let tooDeep = PredicateFault(
        reason: "The predicate is nested deeper than \(PredicateNode.depthMax) levels; give one compound all of its parts instead.")
    static let longPath = PredicateFault(reason: "a key path has more than \(PredicateKeyPath.keysMax) keys")
    static let emptyKey = PredicateFault(reason: "a key is empty")
}

/// One side of a comparison.
indirect enum ExpressionNode {
    case constant(PredicateValue)
    /// Keys, which may be collection operators such as `@count`; empty for SELF.
    case keyPath([String])
    /// Keys asked of another expression's value.
    case path(ExpressionNode, [String])
    case aggregate([ExpressionNode])
    case variable(String)
    case call(PredicateFunction, [ExpressionNode])
    case set(SetOperation, ExpressionNode, ExpressionNode)
    /// The members of a collection for which a predicate holds, each being the variable's value in turn.
    case subquery(ExpressionNode, variable: String, PredicateNode)
    case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    /// In memory only.
    case block(ExpressionBlock, [ExpressionNode])
    /// Built by hand so that it cannot be evaluated, and why.
    case fault(PredicateFault)

    enum SetOperation: String, CaseIterable {
        case union = "UNION"
        case intersect = "INTERSECT"
        case minus = "MINUS"
    }
}

/// The block of an expression that was made of one; or a method that a FUNCTION calls on its first argument's value, and the fetch of a FETCH.
final class ExpressionBlock {
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
