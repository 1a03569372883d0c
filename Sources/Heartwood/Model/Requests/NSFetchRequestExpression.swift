import Foundation

/// The type of a `NSFetchRequestExpression`.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

/// A fetch as an expression: its value is what a request finds in a context, or how many that are. In the format language it is
/// `FETCH(request, context, countOnly)`.
///
/// It is evaluated in memory alone, by `expressionValue(with:context:)`, by a predicate on objects, and by a mapping model, in the queue of the
/// context that it names: a store is not asked it. What the fetch throws ends the evaluation.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchrequestexpression
open class NSFetchRequestExpression: NSExpression {
    /// - Parameters:
    ///   - fetch: gives the `NSFetchRequest`.
    ///   - context: gives the `NSManagedObjectContext`.
    ///   - countFlag: whether the value is the number of what is found, which is counted and not fetched.
    open class func expression(forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool) -> NSExpression {
        NSExpression(node: .block(ExpressionBlock(.fetch), [fetch.node, context.node, .constant(.bool(countFlag))]))
    }

    private final var parts: [ExpressionNode] {
        guard case .block(_, let arguments) = node, arguments.count == 3 else { preconditionFailure("a FETCH has three parts") }
        return arguments
    }

    open var requestExpression: NSExpression { NSExpression(node: parts[0]) }
    open var contextExpression: NSExpression { NSExpression(node: parts[1]) }
    /// false too where that is not a constant, as the format language allows.
    open var isCountOnlyRequest: Bool {
        guard case .constant(let value) = parts[2] else { return false }
        return value.isTrue
    }
}
