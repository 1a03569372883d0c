/// Objects whose deletion by another context or process a merge has reported.
///
/// Such an object is detached: no fetch finds it, and no save writes it. Until the next save it is among the context's deleted objects, as if the
/// context had deleted it itself.
///
/// Invariant: an object has the flag `gone` exactly while it is in its context's `mergedDeletions`.
extension NSManagedObjectContext {
    static let mergedDeletionsMin = 64

    /// Takes an object out of the context because a merge reports that its row is gone.
    final func leave(deleted object: NSManagedObject) {
        let isKept = !object.key.isTemporary
        forget(gone: object)
        guard isKept else { return }
        object.state.remove(.recorded)
        object.state.insert(.gone)
        pending.mergedDeletions[object.key] = object
    }

    /// The merged deletion of a key, unless the row exists again.
    final func mergedDeletion(_ key: ObjectKey) -> NSManagedObject? {
        guard !pending.mergedDeletions.isEmpty, identities[key] == nil, let object = pending.mergedDeletions[key], isGone(object)
        else { return nil }
        return object
    }

    /// Forgets a merged deletion whose object exists again.
    final func forgetMergedDeletion(_ key: ObjectKey) {
        if !pending.mergedDeletions.isEmpty { pending.mergedDeletions.removeValue(forKey: key)?.state.remove(.gone) }
    }

    /// Forgets the objects that only this list holds, once there are many: a context that only reads may never save.
    final func forgetUnheldDeletions() {
        guard pending.mergedDeletions.count >= pending.mergedDeletionsMax else { return }
        var kept: [ObjectKey: NSManagedObject] = [:]
        for key in Array(pending.mergedDeletions.keys) {
            guard var object = pending.mergedDeletions.removeValue(forKey: key) else { continue }
            if !isKnownUniquelyReferenced(&object) { kept[key] = object }
        }
        pending.mergedDeletions = kept
        pending.mergedDeletionsMax = max(Self.mergedDeletionsMin, kept.count * 2)
    }

    /// Ends all merged deletions, after a save or at a rollback, or where a merge is no change of the context.
    /// - Parameter isSaved: whether the objects end as they would after a saved deletion.
    package final func endMergedDeletions(isSaved: Bool) {
        guard !pending.mergedDeletions.isEmpty else { return }
        for object in pending.mergedDeletions.values {
            object.state.remove(.gone)
            guard isSaved else { continue }
            object.state.remove(.deleted)
            object.state.insert(.erased)
        }
        pending.mergedDeletions = [:]
        pending.mergedDeletionsMax = Self.mergedDeletionsMin
    }
}
