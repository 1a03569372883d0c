import Foundation

extension NSManagedObjectContext {
    /// What happens where a fault fires and no row comes: the row has vanished, or (as a failure says that is kept already) the
    /// store cannot read it, which is no deletion.
    ///
    /// Every property reads as nil then, until the object is refreshed.
    final func failToFulfill(_ object: NSManagedObject) {
        object.state.insert(.inaccessible)
        guard isGone(object) else { return }
        let id = object.objectID
        guard shouldHandleInaccessibleFault(object, for: id, triggeredByProperty: nil) else {
            unfulfilled = unfulfilled ?? CoreDataError.make(
                NSManagedObjectReferentialIntegrityError,
                "Core Data could not fulfill a fault for \(id.uriRepresentation().absoluteString): its row was deleted.",
                [NSAffectedObjectsErrorKey: [object]])
            return
        }
        object.dropValues()
        object.state.remove(.fault)
        guard !object.isDeleted else { return }
        if object.state.isDisjoint(with: .changed) { changeCount += 1 }
        object.state.insert(.deleted)
        list(object)
        noteEvent(.deleted, object)
    }

    /// Whether there is no row of an object any more.
    final func isGone(_ object: NSManagedObject) -> Bool {
        guard parentContext == nil else { return isGoneFromParent(object) }
        guard let store = object.runtime.store else { return false }
        do { return try view(of: store).row(object.key) == nil } catch { return false }
    }

    /// The key that an ID's object has here: that of the ID, but for IDs of another coordinator over the same file, and those of before the
    /// store was removed and added again.
    /// - Returns: nil for a temporary ID of another tree of contexts, and where this context's coordinator has no such store.
    final func ownKey(of id: NSManagedObjectID) -> ObjectKey? {
        guard !id.isTemporaryID else { return id.contextToken == tree.token ? id.key : nil }
        guard let coordinator else { return id.key }
        let owner = id.persistentStore?.persistentStoreCoordinator
        guard owner !== coordinator else { return id.key }
        if let key = id.key(among: coordinator.persistentStores) { return key }
        // Objects of a removed store keep their keys.
        return owner == nil && coordinator.runtime(slot: id.key.slot) == nil ? id.key : nil
    }
}
