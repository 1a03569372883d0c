import Foundation

/// A computed property of a fetch's dictionaries: an expression over an object's properties, or over a group of objects.
///
/// An aggregate function of one argument, such as `sum:(size)`, and an operator at the start of a key path, such as `@sum.size`, are
/// over the group, which is all objects where nothing is grouped by. Those behind a to-many relationship, such as `tags.@count`, are
/// over one object's members. For the objects' IDs use `NSExpression.expressionForEvaluatedObject()`.
/// Source: https://developer.apple.com/documentation/coredata/nsexpressiondescription
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    /// What is computed. The name is the key of its value in the dictionaries.
    open var expression: NSExpression?
    /// The type of the value; undefined: as the expression gives it. A number becomes a number of the type, and fractions are cut off.
    open var expressionResultType = NSAttributeType.undefinedAttributeType

    open override func copy(with zone: NSZone? = nil) -> Any { NSExpressionDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSExpressionDescription else { return }
        expression = original.expression
        expressionResultType = original.expressionResultType
    }

    /// The modern spelling of `expressionResultType`.
    public final var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }
}
