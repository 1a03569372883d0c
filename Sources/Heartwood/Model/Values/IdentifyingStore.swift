import Foundation

/// A store as the IDs of its objects see it. Only `NSPersistentStore` in the Graph layer conforms.
package protocol IdentifyingStore: NSObject {
    /// Adding a row reference's bits to this gives the object's key in the coordinator.
    var slotBase: UInt64 { get }
    /// The store's identity in object IDs.
    var nameOfObjects: StoreIdentifier { get }
    /// The name that a store of the program's own class gives an object; nil if the row number is the name.
    func name(of key: ObjectKey) -> String?
    /// The key in this store for an ID of another coordinator, or for an ID from before the store was removed and added again.
    func currentKey(of id: NSManagedObjectID) -> ObjectKey?
}
