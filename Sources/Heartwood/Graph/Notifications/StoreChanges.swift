import Foundation

/// Notifications of added and removed stores. The coordinator posts all of them on the thread that changes its stores. Observers may fetch and
/// save, but must not change the stores.
extension Notification.Name {
    /// Nothing posts it. Core Data's header has it for ubiquitous stores, whose account changes or whose content is deleted; Heartwood has none.
    /// Apple's page names no condition. Measured on Apple's platforms: adding, removing or migrating a store posts none.
    /// Source: https://developer.apple.com/documentation/foundation/nsnotification/name/nspersistentstorecoordinatorstoreswillchange
    public static let NSPersistentStoreCoordinatorStoresWillChange =
        Notification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted after a store was added (`NSAddedPersistentStoresKey`), removed (`NSRemovedPersistentStoresKey`), replaced by
    /// `migratePersistentStore` (both, and `NSUUIDChangedPersistentStoresKey`), or moved by `setURL(_:for:)` (only the last key).
    public static let NSPersistentStoreCoordinatorStoresDidChange =
        Notification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// Posted just before a store is removed: the last chance to read it and to save to it. It has no user info.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstorecoordinatorwillremovestorenotification
    public static let NSPersistentStoreCoordinatorWillRemoveStore =
        Notification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// The stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// The stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// The old and the new store; both are the same store if only its URL changed. After a migration the third element is an array of the IDs of the
/// store's objects, each old ID followed by the new one.
/// Source: https://developer.apple.com/documentation/coredata/nsuuidchangedpersistentstoreskey
public let NSUUIDChangedPersistentStoresKey = "changed"

extension NSPersistentStoreCoordinator {
    final func announce(_ name: Notification.Name, _ change: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: change)
    }
}
