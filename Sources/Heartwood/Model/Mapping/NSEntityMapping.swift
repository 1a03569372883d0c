import Foundation

/// The treatment of an entity's objects in a migration. The raw values are Core Data's.
public enum NSEntityMappingType: UInt, Sendable {
    /// Decided from the entities when the mapping model is used; see `NSMappingModel`.
    case undefinedEntityMappingType = 0
    /// The mapping's policy makes the destination's objects.
    case customEntityMappingType = 1
    /// Only the destination has the entity.
    case addEntityMappingType = 2
    /// Only the source has the entity; its objects are left behind.
    case removeEntityMappingType = 3
    /// Nothing has changed except, perhaps, the name.
    case copyEntityMappingType = 4
    /// Properties have changed.
    case transformEntityMappingType = 5
}

/// A rule that turns the objects of one source entity into objects of one destination entity.
/// Source: https://developer.apple.com/documentation/coredata/nsentitymapping
open class NSEntityMapping: NSObject {
    /// Identifies the mapping in its model; value expressions refer to it. The default is made of the entities' names.
    open var name: String! {
        get { ownName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { ownName = newValue }
    }
    private var ownName: String?
    open var mappingType = NSEntityMappingType.undefinedEntityMappingType
    /// nil: the mapping reads no objects of the source.
    open var sourceEntityName: String?
    /// nil: the mapping makes no objects.
    open var destinationEntityName: String?
    /// The version of the source's entity that the mapping is for; nil for any.
    open var sourceEntityVersionHash: Data?
    /// The version of the destination's entity; nil for any.
    open var destinationEntityVersionHash: Data?
    open var attributeMappings: [NSPropertyMapping]?
    open var relationshipMappings: [NSPropertyMapping]?
    /// Gives the source's objects, as a fetch request or a collection. nil: all objects of the source's entity, without those of subentities.
    open var sourceExpression: NSExpression?
    /// Free for the mapping's policy.
    open var userInfo: [AnyHashable: Any]?
    /// The name of a subclass of `NSEntityMigrationPolicy`; nil for that class itself. Add the module in front if the name alone is not found.
    open var entityMigrationPolicyClassName: String?

    public override init() {
        super.init()
    }

    /// Whether both have equal settings, and equal property mappings in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        if self === other { return true }
        guard name == other.name, mappingType == other.mappingType, sourceEntityName == other.sourceEntityName,
            destinationEntityName == other.destinationEntityName, sourceEntityVersionHash == other.sourceEntityVersionHash,
            destinationEntityVersionHash == other.destinationEntityVersionHash,
            entityMigrationPolicyClassName == other.entityMigrationPolicyClassName, sourceExpression == other.sourceExpression
        else { return false }
        return (attributeMappings ?? []) == (other.attributeMappings ?? []) && (relationshipMappings ?? []) == (other.relationshipMappings ?? [])
            && NSDictionary(dictionary: userInfo ?? [:]).isEqual(NSDictionary(dictionary: other.userInfo ?? [:]))
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }

    open override var description: String {
        "<NSEntityMapping \(name ?? "?"): \(sourceEntityName ?? "nothing") to \(destinationEntityName ?? "nothing")>"
    }
}
