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
        mergedDeletions[object.key] = object
    }

    /// The merged deletion of a key, unless the row exists again.
    final func mergedDeletion(_ key: ObjectKey) -> NSManagedObject? {
        guard !mergedDeletions.isEmpty, identities[key] == nil, let object = mergedDeletions[key], isGone(object) else { return nil }
        return object
    }

    /// Forgets a merged deletion whose object exists again.
    final func forgetMergedDeletion(_ key: ObjectKey) {
        if !mergedDeletions.isEmpty { mergedDeletions.removeValue(forKey: key)?.state.remove(.gone) }
    }

    /// Forgets the objects that only this list holds, once there are many: a context that only reads may never save.
    final func forgetUnheldDeletions() {
        guard mergedDeletions.count >= mergedDeletionsMax else { return }
        var kept: [ObjectKey: NSManagedObject] = [:]
        for key in Array(mergedDeletions.keys) {
            guard var object = mergedDeletions.removeValue(forKey: key) else { continue }
            if !isKnownUniquelyReferenced(&object) { kept[key] = object }
        }
        mergedDeletions = kept
        mergedDeletionsMax = max(Self.mergedDeletionsMin, kept.count * 2)
    }

    /// Ends all merged deletions, after a save or at a rollback.
    /// - Parameter isSaved: whether the objects end as they would after a saved deletion.
    final func endMergedDeletions(isSaved: Bool) {
        guard !mergedDeletions.isEmpty else { return }
        for object in mergedDeletions.values {
            object.state.remove(.gone)
            guard isSaved else { continue }
            object.state.remove(.deleted)
            object.state.insert(.erased)
        }
        mergedDeletions = [:]
        mergedDeletionsMax = Self.mergedDeletionsMin
    }
}
