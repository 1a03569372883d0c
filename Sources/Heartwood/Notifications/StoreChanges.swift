import Foundation

/// Stores that come and go. All are posted by the coordinator, on the thread that changes it; observers may fetch and save, and must
/// not change its stores.
extension Notification.Name {
    /// Core Data posts it where an account's ubiquitous stores change; there are none here, and nothing posts it.
    /// Source: https://developer.apple.com/documentation/foundation/nsnotification/name/nspersistentstorecoordinatorstoreswillchange
    public static let NSPersistentStoreCoordinatorStoresWillChange =
        Notification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted after a store was added (`NSAddedPersistentStoresKey`), removed (`NSRemovedPersistentStoresKey`), put in another one's place
    /// by a migration (both, and `NSUUIDChangedPersistentStoresKey`), or moved by `setURL(_:for:)` (`NSUUIDChangedPersistentStoresKey`).
    public static let NSPersistentStoreCoordinatorStoresDidChange =
        Notification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// Posted just before a store is removed: the last chance to read what it has and to save to it
    /// (`NSRemovedPersistentStoresKey`).
    public static let NSPersistentStoreCoordinatorWillRemoveStore =
        Notification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// The stores that were added, or will be.
public let NSAddedPersistentStoresKey = "added"
/// The stores that were removed, or will be.
public let NSRemovedPersistentStoresKey = "removed"
/// Two stores: the one that was there, and the one that is in its place, which is the same where it only has another URL.
public let NSUUIDChangedPersistentStoresKey = "changed"

extension NSPersistentStoreCoordinator {
    final func announce(_ name: Notification.Name, _ change: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: change)
    }
}
