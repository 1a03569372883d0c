import Foundation

/// What an atomic store keeps of one object: its ID and its values.
///
/// Attributes are kept as key-value coding has them, a to-one relationship as the destination's node, a to-many relationship as a set
/// of nodes (`Set<NSAtomicStoreCacheNode>` or `NSSet`), an ordered one as an `NSOrderedSet` or an array. An object ID may stand for a
/// node. What is null has no value, or `NSNull`. The elements of a composite attribute go by their paths ("address.street").
///
/// A subclass may keep the values in a form of its own, and overrides the two functions then.
/// Source: https://developer.apple.com/documentation/coredata/nsatomicstorecachenode
open class NSAtomicStoreCacheNode: NSObject {
    /// The object that this is of.
    public final let objectID: NSManagedObjectID
    /// The values by the properties' names; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
    }

    /// The value of a property; nil for null. The default looks in `propertyCache`.
    open func value(forKey key: String) -> Any? { propertyCache?.object(forKey: NSString(string: key)) }

    /// Sets the value of a property. The default puts it into `propertyCache`, or takes it out where it is nil.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let value else {
            propertyCache?.removeObject(forKey: NSString(string: key))
            return
        }
        let cache = propertyCache ?? NSMutableDictionary()
        cache.setObject(value, forKey: NSString(string: key))
        propertyCache = cache
    }
}

extension NSAtomicStoreCacheNode {
    /// The objects that a value names as destinations, in its order; nil where it is nothing of the kind.
    static func keys(of value: Any?) -> [ObjectKey]? {
        switch value {
        case nil, is NSNull: []
        case let node as NSAtomicStoreCacheNode: [node.objectID.key]
        case let id as NSManagedObjectID: [id.key]
        case let list as [Any]: keys(in: list)
        case let set as NSOrderedSet: keys(in: set.array)
        case let set as NSSet: keys(in: set.allObjects)
        case let set as Set<AnyHashable>: keys(in: set.map(\.base))
        default: nil
        }
    }

    private static func keys(in list: [Any]) -> [ObjectKey]? {
        var result: [ObjectKey] = []
        for element in list {
            switch element {
            case let node as NSAtomicStoreCacheNode: result.append(node.objectID.key)
            case let id as NSManagedObjectID: result.append(id.key)
            default: return nil
            }
        }
        return result
    }
}
