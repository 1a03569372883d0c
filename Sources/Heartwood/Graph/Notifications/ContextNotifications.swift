import Foundation
import Synchronization

/// A notification that a context posts.
///
/// Its user info is made only after some code has read its name: without the name no code observes it, and a save need not build the sets. (An
/// observer of every name, or of a name spelt out as text, receives notifications only after some code has read the name.)
enum ContextNotification: UInt32 {
    case willSave = 1
    case didSave = 2
    case didChange = 4
    case didSaveIDs = 8
    case didMergeIDs = 16

    private static let named = Atomic<UInt32>(0)

    /// Whether it may have an observer.
    var isNamed: Bool { Self.named.load(ordering: .relaxed) & rawValue != 0 }

    /// Returns the name and notes that code has read it.
    func named() -> Notification.Name {
        Self.named.bitwiseOr(rawValue, ordering: .relaxed)
        if self == .didChange { ChangeEvents.observe() }
        return name
    }

    private var name: Notification.Name {
        switch self {
        case .willSave: Notification.Name("NSManagedObjectContextWillSaveNotification")
        case .didSave: Notification.Name("NSManagingContextDidSaveChangesNotification")
        case .didChange: Notification.Name("NSObjectsChangedInManagingContextNotification")
        case .didSaveIDs: Notification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
        case .didMergeIDs: Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
        }
    }

    func post(_ context: NSManagedObjectContext, _ userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: context, userInfo: userInfo)
    }
}

extension NSManagedObjectContext {
    /// Posted before a save that has something to save, on the context's queue. No user info.
    public static var willSaveObjectsNotification: Notification.Name { ContextNotification.willSave.named() }
    /// Posted after a save: the inserted, updated and deleted objects, each a `Set<NSManagedObject>`.
    public static var didSaveObjectsNotification: Notification.Name { ContextNotification.didSave.named() }
    /// Posted by `processPendingChanges()`: the changes since its last run, in the sets that are not empty.
    public static var didChangeObjectsNotification: Notification.Name { ContextNotification.didChange.named() }
    /// Posted after a save, after `didSaveObjectsNotification`: the objects' IDs, each a `Set<NSManagedObjectID>`.
    public static var didSaveObjectIDsNotification: Notification.Name { ContextNotification.didSaveIDs.named() }
    /// Posted after this context merged changes of another context or process: the merged IDs, and the context that saved them (`sourceContext`) if
    /// it is one of this process and its notification was merged.
    public static var didMergeChangesObjectIDsNotification: Notification.Name { ContextNotification.didMergeIDs.named() }

    /// The keys of the notifications' user info.
    public enum NotificationKey: String, Sendable {
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedObjects = "invalidated"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
        case refreshedObjectIDs = "refreshed_objectIDs"
        case invalidatedObjectIDs = "invalidated_objectIDs"
        case sourceContext = "managedObjectContext"
        /// Of a pinned context: the `NSQueryGenerationToken` that it reads from now on.
        case queryGeneration = "newQueryGeneration"
    }
}

extension Notification.Name {
    public static var NSManagedObjectContextWillSave: Notification.Name { ContextNotification.willSave.named() }
    public static var NSManagedObjectContextDidSave: Notification.Name { ContextNotification.didSave.named() }
    public static var NSManagedObjectContextObjectsDidChange: Notification.Name { ContextNotification.didChange.named() }
    public static var NSManagedObjectContextDidSaveObjectIDs: Notification.Name { ContextNotification.didSaveIDs.named() }
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: Notification.Name { ContextNotification.didMergeIDs.named() }
}

public let NSInsertedObjectsKey = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
public let NSUpdatedObjectsKey = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
public let NSDeletedObjectsKey = NSManagedObjectContext.NotificationKey.deletedObjects.rawValue
public let NSRefreshedObjectsKey = NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue
public let NSInvalidatedObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
public let NSInvalidatedAllObjectsKey = NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
public let NSRefreshedObjectIDsKey = NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
public let NSManagedObjectContextQueryGenerationKey = NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
public let NSInvalidatedObjectIDsKey = NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue
