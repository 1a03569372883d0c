import Foundation

/// A computed property of a fetch's dictionaries: an expression over an object's properties or over a group of objects.
///
/// An aggregate function with one argument, such as `sum:(size)`, and an operator at the start of a key path, such as `@sum.size`, run over
/// the group. Without grouping the group is all objects. An operator behind a to-many relationship, such as `tags.@count`, runs over one
/// object's members. For the objects' IDs use `NSExpression.expressionForEvaluatedObject()`.
/// Source: https://developer.apple.com/documentation/coredata/nsexpressiondescription
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    /// The expression to compute. The description's name is the key of the value in the dictionaries.
    open var expression: NSExpression?
    /// The type of the value; undefined: the expression's own. A number is converted to the type, without its fraction if the type has none.
    open var expressionResultType = NSAttributeType.undefinedAttributeType

    open override func copy(with zone: NSZone? = nil) -> Any { NSExpressionDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSExpressionDescription else { return }
        expression = original.expression
        expressionResultType = original.expressionResultType
    }

    /// The newer spelling of `expressionResultType`.
    public final var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }
}
