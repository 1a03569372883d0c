import Foundation

/// The IDs of the objects that another context or process has saved.
struct MergedChanges: @unchecked Sendable {
    // Unchecked: IDs may cross threads.
    var inserted: Set<NSManagedObjectID> = []
    var updated: Set<NSManagedObjectID> = []
    var deleted: Set<NSManagedObjectID> = []
    /// Whether the lists may be incomplete: they may lack the objects at the other end of a relationship.
    var isPartial = false
    /// The context that saved, if it belongs to this process and the notification names it.
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

    /// Reads the user info of a save's notification, or a dictionary of the same form: objects, IDs, and the IDs' URIs, in sets or arrays. An ID of
    /// another coordinator over the same store is looked up by its URI. Temporary IDs count only if they belong to the context or one of its
    /// ancestors.
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
