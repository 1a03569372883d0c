import Foundation

/// What a context asks of an incremental store at a save.
/// Source: https://developer.apple.com/documentation/coredata/nssavechangesrequest
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// Objects to insert; each has its permanent ID.
    public final let insertedObjects: Set<NSManagedObject>?
    /// Objects to write because they, or only members of their to-many relationships, have changed.
    public final let updatedObjects: Set<NSManagedObject>?
    /// Objects to delete.
    public final let deletedObjects: Set<NSManagedObject>?
    /// Objects that are not written, and must be as they were read (`detectConflicts(for:)`).
    public final let lockedObjects: Set<NSManagedObject>?

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
