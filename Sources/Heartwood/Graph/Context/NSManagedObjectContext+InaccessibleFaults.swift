import Foundation

extension NSManagedObjectContext {
    /// Handles a fault that fires and finds no row: the row was deleted, or the store cannot read it. A failed read is remembered in
    /// `readingFailure` and is not a deletion.
    ///
    /// Until the object is refreshed, every property is nil.
    final func failToFulfill(_ object: NSManagedObject) {
        object.state.insert(.inaccessible)
        guard isGone(object) else { return }
        let id = object.objectID
        guard shouldHandleInaccessibleFault(object, for: id, triggeredByProperty: nil) else {
            pending.unfulfilled = pending.unfulfilled ?? CoreDataError.make(
                NSManagedObjectReferentialIntegrityError,
                "Core Data could not fulfill a fault for \(id.uriRepresentation().absoluteString): its row was deleted.",
                [NSAffectedObjectsErrorKey: [object]])
            return
        }
        object.dropValues()
        object.state.remove(.fault)
        guard !object.isDeleted else { return }
        if object.state.isDisjoint(with: .changed) { pending.changeCount += 1 }
        object.state.insert(.deleted)
        list(object)
        noteEvent(.deleted, object)
    }

    /// Whether the object's row no longer exists.
    final func isGone(_ object: NSManagedObject) -> Bool {
        guard parentContext == nil else { return isGoneFromParent(object) }
        guard let store = object.runtime.store else { return false }
        do { return try view(of: store).row(object.key) == nil } catch { return false }
    }

    /// The key of an ID's object in this context. It differs from the ID's own key for IDs of another coordinator over the same file, and
    /// for IDs from before the store was removed and added again.
    /// - Returns: nil for a temporary ID of another context tree, and if this context's coordinator does not have the store.
    final func ownKey(of id: NSManagedObjectID) -> ObjectKey? {
        guard !id.isTemporaryID else { return id.contextToken == tree.token ? id.key : nil }
        // Mostly avoids the coordinator and the two weak references that lead to it.
        if let known = entity(known: id.key.slot), known.runtime.serialNumber == id.serialNumber, !known.runtime.isRetired { return id.key }
        guard let coordinator else { return id.key }
        let owner = id.persistentStore?.persistentStoreCoordinator
        guard owner !== coordinator else { return id.key }
        if let key = id.key(among: coordinator.persistentStores) { return key }
        // Objects of a removed store keep their keys.
        return owner == nil && coordinator.runtime(slot: id.key.slot) == nil ? id.key : nil
    }
}
