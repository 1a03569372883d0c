import Foundation

/// A value in a predicate: a constant, a key path, or a function of other expressions. Extensions in Heartwood's Model layer add its members.
/// Source: https://developer.apple.com/documentation/foundation/nsexpression
open class NSExpression: NSObject, NSCopying, MadeByFactory {
    public enum ExpressionType: UInt, Sendable {
        case constantValue, evaluatedObject, variable, keyPath, function, unionSet, intersectSet, minusSet
        case subquery = 13
        case aggregate = 14
        /// The type of an expression for Spotlight. Nothing here makes one; a `switch` may name it.
        case anyKey = 15
        case block = 19
        case conditional = 20
        /// The type of an `NSFetchRequestExpression`.
        case fetchRequest = 50
    }

    package let body: any ExpressionBody

    package init(body: any ExpressionBody) {
        self.body = body
        super.init()
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return other === self || other.body.format.utf8.elementsEqual(body.format.utf8)
    }

    open override var hash: Int { body.format.hashValue }

    /// The expression in the format language.
    open override var description: String { body.format }
}
