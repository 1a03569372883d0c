/// What a predicate object holds: the stack's tree, or a block.
package protocol PredicateBody: AnyObject {
    func evaluate(_ object: Any?, _ variables: [String: Any]?) -> Bool
    /// The predicate in the format language.
    var format: String { get }
    func isEqual(_ other: any PredicateBody) -> Bool
}

/// A block, or a constant.
package final class BlockBody: PredicateBody {
    package let block: (Any?, [String: Any]?) -> Bool
    /// nil for a block that is not constant.
    package let constant: Bool?
    /// What a predicate was made of that evaluates in its own way; nil for other blocks.
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

    /// Of a predicate that nobody has given a condition.
    package static var unstated: BlockBody { Unstated.body }

    private enum Unstated {
        // Nothing of it changes.
        nonisolated(unsafe) static let body = BlockBody { _, _ in
            preconditionFailure("A predicate that was made by NSPredicate() states nothing to evaluate.")
        }
    }

    package func evaluate(_ object: Any?, _ variables: [String: Any]?) -> Bool { block(object, variables) }

    package var format: String { constant.map { $0 ? "TRUEPREDICATE" : "FALSEPREDICATE" } ?? stated?.format ?? "BLOCKPREDICATE" }

    package func isEqual(_ other: any PredicateBody) -> Bool {
        guard let other = other as? BlockBody else { return false }
        return other === self || constant != nil && other.constant == constant
    }
}

/// What an expression object holds: the stack's tree.
package protocol ExpressionBody: AnyObject {
    /// The expression in the format language.
    var format: String { get }
}

/// Lets a convenience initializer give an object of a subclass, as the factory methods behind Core Data's initializers do.
package protocol MadeByFactory {}

extension MadeByFactory {
    package init(taking made: Self) { self = made }
}
