/// Objects of which a merge has told that others have deleted them.
///
/// Such an object is detached: no fetch finds it, and nothing is written of it. Until the next save the context has it among its deleted
/// objects, as if it had deleted it itself.
///
/// Invariant: an object has the flag `gone` exactly while it is in its context's `mergedDeletions`.
extension NSManagedObjectContext {
    static let mergedDeletionsMin = 64

    /// Takes an object out of the context because a merge says that its row is gone.
    final func leave(deleted object: NSManagedObject) {
        let isKept = !object.key.isTemporary
        forget(gone: object)
        guard isKept else { return }
        object.state.remove(.recorded)
        object.state.insert(.gone)
        mergedDeletions[object.key] = object
    }

    /// The merged deletion of a key, unless somebody has written its row again.
    final func mergedDeletion(_ key: ObjectKey) -> NSManagedObject? {
        guard !mergedDeletions.isEmpty, identities[key] == nil, let object = mergedDeletions[key], isGone(object) else { return nil }
        return object
    }

    /// Forgets a merged deletion whose object is there again, be it the same one.
    final func forgetMergedDeletion(_ key: ObjectKey) {
        if !mergedDeletions.isEmpty { mergedDeletions.removeValue(forKey: key)?.state.remove(.gone) }
    }

    /// Forgets those that nobody holds, once many have gathered: a context that only reads may never save.
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

    /// Ends them all, after a save or at a rollback.
    /// - Parameter isSaved: the objects are as after a deletion that was saved.
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
