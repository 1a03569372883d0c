import Foundation

/// What a context asks of an incremental store at a save.
/// Source: https://developer.apple.com/documentation/coredata/nssavechangesrequest
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// Objects to insert; each has its permanent ID.
    open private(set) var insertedObjects: Set<NSManagedObject>?
    /// Objects to write because they, or only members of their to-many relationships, have changed.
    open private(set) var updatedObjects: Set<NSManagedObject>?
    /// Objects to delete.
    open private(set) var deletedObjects: Set<NSManagedObject>?
    /// Objects that are not written, and must be as they were read (`detectConflicts(for:)`).
    open private(set) var lockedObjects: Set<NSManagedObject>?

    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
