import Foundation

/// The ID and the values of one object of an atomic store.
///
/// Attributes have the types of key-value coding. A to-one relationship is the destination's node, a to-many relationship a set of nodes
/// (`Set<NSAtomicStoreCacheNode>` or `NSSet`), an ordered one an `NSOrderedSet` or an array. An object ID may stand for a node. A null property has
/// no value, or `NSNull`. The elements of a composite attribute use their paths ("address.street") as keys.
///
/// A subclass that stores the values in another form overrides the two functions.
/// Source: https://developer.apple.com/documentation/coredata/nsatomicstorecachenode
open class NSAtomicStoreCacheNode: NSObject {
    /// The ID of the node's object.
    public final let objectID: NSManagedObjectID
    /// The values by the properties' names; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
    }

    /// The value of a property; nil for null. The default reads `propertyCache`.
    open func value(forKey key: String) -> Any? { propertyCache?.object(forKey: NSString(string: key)) }

    /// Sets the value of a property. The default stores it in `propertyCache`, or removes it for nil.
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
    /// The objects that a value names as destinations, in its order; nil if it is no such value.
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
