import Foundation

/// The report of a save to observers and followers: made before objects take their saved state, posted after.
struct SaveAnnouncement {
    let context: NSManagedObjectContext
    var inserted: Set<NSManagedObject> = []
    var updated: Set<NSManagedObject> = []
    var deleted: Set<NSManagedObject> = []
    /// Objects of which the save changed only derived attributes.
    var derived: Set<NSManagedObjectID> = []

    func post() {
        let isFollowed = context.isFollowed
        if ContextNotification.didSave.isNamed {
            var info: [AnyHashable: Any] = [NSInsertedObjectsKey: inserted, NSUpdatedObjectsKey: updated, NSDeletedObjectsKey: deleted]
            if !derived.isEmpty { info[NSRefreshedObjectsKey] = Set(derived.map { context.registeredObjectOrFault(with: $0) }) }
            info[NSManagedObjectContextQueryGenerationKey] = context.readState.generation
            ContextNotification.didSave.post(context, info)
        }
        guard isFollowed || ContextNotification.didSaveIDs.isNamed else { return }
        var changes = MergedChanges(
            inserted: Set(inserted.map(\.objectID)), updated: Set(updated.map(\.objectID)), deleted: Set(deleted.map(\.objectID)))
        if ContextNotification.didSaveIDs.isNamed {
            var info = changes.userInfo
            if !derived.isEmpty { info[NSRefreshedObjectIDsKey] = derived }
            info[NSManagedObjectContextQueryGenerationKey] = context.readState.generation
            ContextNotification.didSaveIDs.post(context, info)
        }
        changes.updated.formUnion(derived)
        guard !changes.isEmpty else { return }
        // A child's save is the parent's pending change: the other children merge it when the parent saves.
        if context.parentContext == nil { context.feed?.merge(changes, of: context) }
        context.followers.merge(changes, of: context)
    }
}

extension NSManagedObjectContext {
    /// Whether other contexts merge this one's saves.
    final var isFollowed: Bool { parentContext == nil && feed?.isEmpty == false || !followers.isEmpty }

    /// Call this when an object that was never saved leaves the context.
    final func noteDrop(of object: NSManagedObject) {
        if !followers.isEmpty { pending.dropped.append(object) }
    }

    /// Reports to child contexts the objects that they may have seen here and that no save reports.
    final func announceDrops() {
        guard !pending.dropped.isEmpty else { return }
        // An undo may have brought some back.
        let gone = pending.dropped.filter { $0.managedObjectContext == nil }
        pending.dropped = []
        if !gone.isEmpty { followers.merge(MergedChanges(inserted: [], updated: [], deleted: Set(gone.map(\.savedObjectID))), of: self) }
    }

    final func announceWillSave() {
        if ContextNotification.willSave.isNamed { ContextNotification.willSave.post(self) }
    }

    /// nil if it can have no observer or follower.
    final func announcement(of saved: [NSManagedObject]) -> SaveAnnouncement? {
        guard ContextNotification.didSave.isNamed || ContextNotification.didSaveIDs.isNamed || isFollowed
        else { return nil }
        var result = SaveAnnouncement(context: self)
        result.derived = pending.derivedKeys.isEmpty ? [] : derivedIDs
        for object in pending.mergedDeletions.values where isGone(object) { result.deleted.insert(object) }
        for object in saved where object.hasChanges {
            if object.isDeleted {
                result.deleted.insert(object)
            } else if object.isInserted {
                result.inserted.insert(object)
            } else {
                result.updated.insert(object)
            }
        }
        return result
    }
}
