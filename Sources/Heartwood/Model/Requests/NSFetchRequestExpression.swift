import Foundation

/// The type of an `NSFetchRequestExpression`.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

/// A fetch as an expression. Its value is the results of a request in a context, or their number. In the format language it is
/// `FETCH(request, context, countOnly)`.
///
/// It is evaluated only in memory: by `expressionValue(with:context:)`, by a predicate on objects, and by a mapping model. Evaluate it on the
/// queue of the context that it names. Stores cannot evaluate it. An error of the fetch ends the evaluation.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchrequestexpression
open class NSFetchRequestExpression: NSExpression {
    /// - Parameters:
    ///   - fetch: gives the `NSFetchRequest`.
    ///   - context: gives the `NSManagedObjectContext`.
    ///   - countFlag: true: the value is the number of results, which are counted without a fetch.
    open class func expression(forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool) -> NSExpression {
        NSExpression(node: .block(ExpressionBlock(.fetch), [fetch.node, context.node, .constant(.bool(countFlag))]))
    }

    private final var parts: [ExpressionNode] {
        guard case .block(_, let arguments) = node, arguments.count == 3 else { preconditionFailure("a FETCH has three parts") }
        return arguments
    }

    open var requestExpression: NSExpression { NSExpression(node: parts[0]) }
    open var contextExpression: NSExpression { NSExpression(node: parts[1]) }
    /// Also false if the flag is not a constant, which the format language allows.
    open var isCountOnlyRequest: Bool {
        guard case .constant(let value) = parts[2] else { return false }
        return value.isTrue
    }
}
