import Foundation

/// An object of an entity as the model layer knows it: predicates and sort descriptors compare it and read it by key. The object graph has
/// the one class that conforms, `NSManagedObject`.
protocol EntityObject: NSObject, PredicateSubject {
    var entity: NSEntityDescription { get }
    var key: ObjectKey { get }
    var objectID: NSManagedObjectID { get }
    /// The object's key in a store; nil where it is in no such store.
    func key(in store: any IdentifyingStore) -> ObjectKey?
    func value(forKeyPath keyPath: String) -> Any?
    /// Which property a key path of this class reads.
    /// - Throws: `PredicateTranslationError` where the key path does not read just one property.
    static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading
}

/// A store as the IDs of its objects know it. The object graph has the one class that conforms, `NSPersistentStore`.
protocol IdentifyingStore: NSObject {
    /// Added to a row reference's bits, this makes the key of the object in the coordinator.
    var slotBase: UInt64 { get }
    /// What object IDs take for the store's identity.
    var nameOfObjects: StoreIdentifier { get }
    /// What a store of a program's own class calls an object; nil where the row number says it.
    func name(of key: ObjectKey) -> String?
    /// The key in this store of an object that another coordinator's ID names, or an ID from before the store was added again.
    func currentKey(of id: NSManagedObjectID) -> ObjectKey?
}
