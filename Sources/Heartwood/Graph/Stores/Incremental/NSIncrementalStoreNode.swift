import Foundation

/// The values of one object of an incremental store, and their version.
///
/// An attribute's value has the type of key-value coding; a to-one relationship's is the destination's `NSManagedObjectID`. A null property has
/// `NSNull` or no value. For a to-one relationship without a value, and for every to-many relationship, the stack calls
/// `NSIncrementalStore.newValue(forRelationship:forObjectWith:with:)`. A composite attribute has its dictionary, or its elements use their paths
/// ("address.street") as keys.
/// Source: https://developer.apple.com/documentation/coredata/nsincrementalstorenode
open class NSIncrementalStoreNode: NSObject {
    /// The ID of the node's object.
    public final let objectID: NSManagedObjectID
    /// Differs each time the stored attributes and to-one relationships have changed. A save finds a conflict if an object was read at another
    /// version. A change of only to-many relationships needs no new version.
    public private(set) final var version: UInt64
    final var values: [String: Any]

    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
    }

    /// Replaces the values by newer ones, so that a store can reuse its nodes.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values = values
        self.version = version
    }

    /// The value of a property; nil if the node has none.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
