import Foundation

/// A managed object as the Model layer sees it: predicates and sort descriptors compare it and read it by key. Only `NSManagedObject` in the
/// Graph layer conforms.
protocol EntityObject: NSObject, PredicateSubject {
    var entity: NSEntityDescription { get }
    var key: ObjectKey { get }
    var objectID: NSManagedObjectID { get }
    /// The object's key in a store; nil if it is not in that store.
    func key(in store: any IdentifyingStore) -> ObjectKey?
    func value(forKeyPath keyPath: String) -> Any?
    /// Finds the property that a key path of this class reads.
    /// - Throws: `PredicateTranslationError` if the key path does not read exactly one property.
    static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading
}

/// A store as the IDs of its objects see it. Only `NSPersistentStore` in the Graph layer conforms.
protocol IdentifyingStore: NSObject {
    /// Adding a row reference's bits to this gives the object's key in the coordinator.
    var slotBase: UInt64 { get }
    /// The store's identity in object IDs.
    var nameOfObjects: StoreIdentifier { get }
    /// The name that a store of the program's own class gives an object; nil if the row number is the name.
    func name(of key: ObjectKey) -> String?
    /// The key in this store for an ID of another coordinator, or for an ID from before the store was removed and added again.
    func currentKey(of id: NSManagedObjectID) -> ObjectKey?
}
