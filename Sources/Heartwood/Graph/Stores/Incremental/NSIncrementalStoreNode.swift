import Foundation

/// The values of one object as an incremental store gives them, and their version.
///
/// An attribute's value is as key-value coding has it; a to-one relationship's is the destination's `NSManagedObjectID`. What is null
/// has `NSNull` or no value; a to-one relationship without a value is asked for apart, with
/// `NSIncrementalStore.newValue(forRelationship:forObjectWith:with:)`. To-many relationships are always asked for apart. A composite
/// attribute has its dictionary, or its elements go by their paths ("address.street").
/// Source: https://developer.apple.com/documentation/coredata/nsincrementalstorenode
open class NSIncrementalStoreNode: NSObject {
    /// The object that this is of.
    public final let objectID: NSManagedObjectID
    /// Another number each time the stored attributes and to-one relationships are others: a save finds a conflict where an object was
    /// read at another version. A change of to-many relationships alone needs none.
    public private(set) final var version: UInt64
    final var values: [String: Any]

    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
    }

    /// Takes over newer values, so that a store may keep its nodes.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values = values
        self.version = version
    }

    /// The value of a property; nil where the node has none.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
