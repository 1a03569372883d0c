import Foundation

/// The rule for a relationship's destinations when an object is deleted. The raw values are Core Data's.
public enum NSDeleteRule: UInt, Sendable {
    case noActionDeleteRule = 0
    case nullifyDeleteRule = 1
    case cascadeDeleteRule = 2
    case denyDeleteRule = 3
}

/// A relationship of an entity.
/// Source: https://developer.apple.com/documentation/coredata/nsrelationshipdescription
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    public final var destinationEntity: NSEntityDescription? { willSet { checkEditable() } }
    /// The opposite direction of this relationship. Set it on both sides.
    public final var inverseRelationship: NSRelationshipDescription? { willSet { checkEditable() } }
    open var minCount = 0 { willSet { checkEditable() } }
    /// 1 makes the relationship to-one; 0 means no limit.
    open var maxCount = 0 { willSet { checkEditable() } }
    open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { checkEditable() } }
    public final var isOrdered = false { willSet { checkEditable() } }

    public final var isToMany: Bool { maxCount != 1 }

    open override func copy(with zone: NSZone? = nil) -> Any { NSRelationshipDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSRelationshipDescription else { return }
        destinationEntity = original.destinationEntity
        inverseRelationship = original.inverseRelationship
        minCount = original.minCount
        maxCount = original.maxCount
        deleteRule = original.deleteRule
        isOrdered = original.isOrdered
    }
}
