import Foundation

/// A managed object as the Model layer sees it: predicates and sort descriptors compare it and read it by key. Only `NSManagedObject` in the
/// Graph layer conforms.
package protocol EntityObject: NSObject, PredicateSubject {
    var entity: NSEntityDescription { get }
    var key: ObjectKey { get }
    var objectID: NSManagedObjectID { get }
    /// The object's key in a store; nil if it is not in that store.
    func key(in store: any IdentifyingStore) -> ObjectKey?
    func value(forKeyPath keyPath: String) -> Any?
    /// Finds the property that a key path of this class reads.
    /// - Throws: `PredicateTranslationError` if the key path does not read exactly one property.
    static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading
    /// The keys of the property that a key path of this class reads, found without an entity; nil if that cannot be told.
    static func keys(of keyPath: AnyKeyPath) -> [String]?
}
