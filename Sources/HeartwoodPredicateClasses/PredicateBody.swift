/// The contents of a predicate object: a tree of Heartwood's Model layer, or a block.
package protocol PredicateBody: AnyObject {
    func evaluate(_ object: Any?, _ variables: [String: Any]?) -> Bool
    /// The predicate in the format language.
    var format: String { get }
    func isEqual(_ other: any PredicateBody) -> Bool
}

/// A block or a constant.
package final class BlockBody: PredicateBody {
    package let block: (Any?, [String: Any]?) -> Bool
    /// nil if the block is not constant.
    package let constant: Bool?
    /// The body of the subclass's predicate that this block evaluates; nil for other blocks.
    package let stated: (any PredicateBody)?

    package init(stating stated: (any PredicateBody)? = nil, block: @escaping (Any?, [String: Any]?) -> Bool) {
        self.block = block
        self.stated = stated
        constant = nil
    }

    package init(constant: Bool) {
        block = { _, _ in constant }
        self.constant = constant
        stated = nil
    }

    /// The body of a predicate that was made without a condition.
    package static var unstated: BlockBody { Unstated.body }

    private enum Unstated {
        // Unchecked: it is immutable.
        nonisolated(unsafe) static let body = BlockBody { _, _ in false }
    }

    package func evaluate(_ object: Any?, _ variables: [String: Any]?) -> Bool { block(object, variables) }

    package var format: String { constant.map { $0 ? "TRUEPREDICATE" : "FALSEPREDICATE" } ?? stated?.format ?? "BLOCKPREDICATE" }

    package func isEqual(_ other: any PredicateBody) -> Bool {
        guard let other = other as? BlockBody else { return false }
        return other === self || constant != nil && other.constant == constant
    }
}

/// The contents of an expression object: a tree of Heartwood's Model layer.
package protocol ExpressionBody: AnyObject {
    /// The expression in the format language.
    var format: String { get }
}

/// Lets a convenience initializer return an existing object, also of a subclass, as the factory methods behind Core Data's initializers do.
package protocol MadeByFactory {}

extension MadeByFactory {
    package init(taking made: Self) { self = made }
}
