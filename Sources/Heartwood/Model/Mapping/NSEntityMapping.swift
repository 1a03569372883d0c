import Foundation

/// What becomes of the objects of an entity. The raw values are Core Data's.
public enum NSEntityMappingType: UInt, Sendable {
    /// As the entities say: `NSMappingModel` says how each is understood.
    case undefinedEntityMappingType = 0
    /// The mapping's policy makes the destination's objects.
    case customEntityMappingType = 1
    /// The destination alone has the entity.
    case addEntityMappingType = 2
    /// The source alone has it: its objects are left behind.
    case removeEntityMappingType = 3
    /// Nothing has changed but, perhaps, the name.
    case copyEntityMappingType = 4
    /// Properties have changed.
    case transformEntityMappingType = 5
}

/// How the objects of one entity of the source become objects of one entity of the destination.
/// Source: https://developer.apple.com/documentation/coredata/nsentitymapping
open class NSEntityMapping: NSObject {
    /// Tells the mapping from the others of its model; value expressions name it. Without one of its own it is made of the entities' names.
    open var name: String! {
        get { ownName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { ownName = newValue }
    }
    private var ownName: String?
    open var mappingType = NSEntityMappingType.undefinedEntityMappingType
    /// nil: no object of the source is asked for.
    open var sourceEntityName: String?
    /// nil: none is made in the destination.
    open var destinationEntityName: String?
    /// The version of the source's entity that the mapping is for; nil for any.
    open var sourceEntityVersionHash: Data?
    /// The version of the destination's entity; nil for any.
    open var destinationEntityVersionHash: Data?
    open var attributeMappings: [NSPropertyMapping]?
    open var relationshipMappings: [NSPropertyMapping]?
    /// Gives the source's objects: a fetch request, or a collection of them. nil: all of the source's entity, those of its subentities left out.
    open var sourceExpression: NSExpression?
    /// Whatever the mapping's policy wants to know.
    open var userInfo: [AnyHashable: Any]?
    /// The name of a subclass of `NSEntityMigrationPolicy`, with its module in front where it is not found without; nil for that class itself.
    open var entityMigrationPolicyClassName: String?

    public override init() {
        super.init()
    }

    open override var description: String {
        "<NSEntityMapping \(name ?? "?"): \(sourceEntityName ?? "nothing") to \(destinationEntityName ?? "nothing")>"
    }
}
