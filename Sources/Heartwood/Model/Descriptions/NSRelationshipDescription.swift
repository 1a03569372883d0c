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
    /// The entity of the members. The model holds it, not the relationship: entities that lead to each other would never be freed.
    public final var destinationEntity: NSEntityDescription? {
        get { destination.target }
        set {
            checkEditable()
            destination.set(newValue, from: self)
        }
    }

    /// The opposite direction of this relationship. Set it on both sides. Its entity holds it.
    public final var inverseRelationship: NSRelationshipDescription? {
        get { inverse.target }
        set {
            checkEditable()
            inverse.set(newValue, from: self)
        }
    }

    private var destination = RelationshipEnd<NSEntityDescription>()
    private var inverse = RelationshipEnd<NSRelationshipDescription>()
    /// The relationships whose inverse this is.
    final var incoming = IncomingRelationships()

    deinit {
        destination.set(nil, from: self)
        inverse.set(nil, from: self)
        incoming.forEach { $0.inverse.forget() }
    }

    /// For the destination when it is freed.
    final func forgetDestination() { destination.forget() }

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
