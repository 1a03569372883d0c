import Foundation

/// The IDs of what another context or process has saved.
struct MergedChanges: @unchecked Sendable {
    // Unchecked: IDs may cross threads.
    var inserted: Set<NSManagedObjectID> = []
    var updated: Set<NSManagedObjectID> = []
    var deleted: Set<NSManagedObjectID> = []
    /// Whether only some of what has changed may be named: objects on the other side of a relationship are not.
    var isPartial = false
    /// The context that saved, where one of this process did and said so.
    var source: NSManagedObjectContext?

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    var userInfo: [AnyHashable: Any] {
        var result: [AnyHashable: Any] = [NSInsertedObjectIDsKey: inserted, NSUpdatedObjectIDsKey: updated, NSDeletedObjectIDsKey: deleted]
        if let source { result[NSManagedObjectContext.NotificationKey.sourceContext.rawValue] = source }
        return result
    }

    init(inserted: Set<NSManagedObjectID>, updated: Set<NSManagedObjectID>, deleted: Set<NSManagedObjectID>) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    /// Reads the user info of a save's notification, of either kind, or what code has put together like it: objects, IDs and the
    /// IDs' URIs, in sets or arrays. IDs of another coordinator over the same store are taken by their URIs, temporary ones only of
    /// the context's own tree.
    init(_ userInfo: [AnyHashable: Any], for context: NSManagedObjectContext) {
        func ids(_ keys: String...) -> Set<NSManagedObjectID> {
            var result: Set<NSManagedObjectID> = []
            for key in keys {
                for element in Self.elements(userInfo[key]) {
                    if let id = Self.id(element, context) { result.insert(id) }
                }
            }
            return result
        }
        inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
        updated = ids(
            NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey, NSInvalidatedObjectsKey,
            NSInvalidatedObjectIDsKey)
        deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
    }

    private static func elements(_ value: Any?) -> [Any] {
        switch value {
        case let objects as Set<NSManagedObject>: Array(objects)
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let uris as Set<URL>: Array(uris)
        case let list as [Any]: list
        case let set as NSSet: set.allObjects
        default: []
        }
    }

    private static func id(_ element: Any, _ context: NSManagedObjectContext) -> NSManagedObjectID? {
        let coordinator = context.coordinator
        let id: NSManagedObjectID
        switch element {
        case let object as NSManagedObject: id = object.savedObjectID
        case let known as NSManagedObjectID: id = known
        case let uri as URL: return coordinator?.managedObjectID(forURIRepresentation: uri)
        default: return nil
        }
        guard !id.isTemporaryID else { return context.ownKey(of: id) == nil ? nil : id }
        if let owner = id.persistentStore?.persistentStoreCoordinator, owner === coordinator { return id }
        return coordinator?.managedObjectID(forURIRepresentation: id.uriRepresentation())
    }
}
