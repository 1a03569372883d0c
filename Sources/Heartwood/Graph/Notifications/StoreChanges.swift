import Foundation

/// Stores that come and go. All are posted by the coordinator, on the thread that changes it; observers may fetch and save, and must
/// not change its stores.
extension Notification.Name {
    /// Nothing posts it. Core Data's header has it for ubiquitous stores, whose account changes or whose content is deleted, and there are
    /// none here. Its page names no condition; a store that is added, removed or migrated on Apple's platforms was measured to post none.
    /// Source: https://developer.apple.com/documentation/foundation/nsnotification/name/nspersistentstorecoordinatorstoreswillchange
    public static let NSPersistentStoreCoordinatorStoresWillChange =
        Notification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted after a store was added (`NSAddedPersistentStoresKey`), removed (`NSRemovedPersistentStoresKey`), put in another one's place
    /// by `migratePersistentStore` (both, and `NSUUIDChangedPersistentStoresKey`), or moved by `setURL(_:for:)` (the last one alone).
    public static let NSPersistentStoreCoordinatorStoresDidChange =
        Notification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// Posted just before a store is removed: the last chance to read what it has and to save to it. It has no user info.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorwillremovestorenotification
    public static let NSPersistentStoreCoordinatorWillRemoveStore =
        Notification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// The stores that were added, or will be.
public let NSAddedPersistentStoresKey = "added"
/// The stores that were removed, or will be.
public let NSRemovedPersistentStoresKey = "removed"
/// Two stores: the one that was there, and the one that is in its place, which is the same where it only has another URL. After a migration
/// the third element is an array with the IDs of the store's objects: the old and the new one of each in turn.
/// Source: https://developer.apple.com/documentation/coredata/nsuuidchangedpersistentstoreskey
public let NSUUIDChangedPersistentStoresKey = "changed"

extension NSPersistentStoreCoordinator {
    final func announce(_ name: Notification.Name, _ change: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: change)
    }
}
