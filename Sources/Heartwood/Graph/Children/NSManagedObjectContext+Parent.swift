import Foundation

extension NSManagedObjectContext {
    /// Sets `parent`; the property's setter calls this.
    final func setParent(_ newValue: NSManagedObjectContext?) {
        guard newValue !== parentContext else { return }
        precondition(
            parentContext == nil && ownCoordinator == nil && identities.count == 0,
            "A context's parent is set once, before it is used and in place of a persistent store coordinator; make a new context.")
        guard let newValue else { return }
        precondition(newValue !== self && !newValue.descends(from: self), "A context cannot be its own ancestor.")
        if isFollowing {
            feed?.remove(self)
            newValue.followers.add(self)
        }
        adopt(newValue)
    }

    /// Whose saves and merges this context hears of where it follows: the parent's, else the coordinator's.
    final var feed: ContextFollowers? { parentContext?.followers ?? ownCoordinator?.followers }

    /// Whether `other` is this context's parent, or the parent's, and so on.
    final func descends(from other: NSManagedObjectContext) -> Bool {
        var next = parentContext
        while let context = next {
            if context === other { return true }
            next = context.parentContext
        }
        return false
    }

    /// Runs `body` on the parent's queue, and waits.
    final func askParent<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        guard let parentContext else { preconditionFailure("a root has nobody to ask") }
        return try parentContext.performAndWait {
            parentContext.adoptKeys()
            return try body(parentContext)
        }
    }

    // MARK: Names

    /// Takes over keys that have become others since this context looked last. Called where no code below has a key in its hands.
    /// - Complexity: one load, or, after a save of the root that inserted something, O(registered objects).
    @inline(__always)
    final func adoptKeys() {
        if tree.count != keysSeen { takeRenames() }
    }

    @inline(never)
    private func takeRenames() {
        let renames = tree.renames(after: keysSeen)
        keysSeen = renames.count
        guard !renames.map.isEmpty else { return }
        var merged: [NSManagedObject] = []
        for (old, new) in renames.map {
            guard let object = identities.remove(old) else { continue }
            guard identities[new] == nil else {
                merged.append(object)
                continue
            }
            object.key = new
            // Its store may have been added, or another one chosen for it, after this context learned of it.
            if object.runtime.slot != new.slot, let found = runtime(slot: new.slot) { object.runtime = found }
            identities.insert(object, for: new)
        }
        identities.forEach { $0.rename(renames.map) }
        // The root made one object of two, and this context knows both: one instance has to leave.
        for object in merged {
            noteEvent(.deleted, object)
            forget(gone: object)
        }
    }

    /// The present name of a key that may be old, for this context.
    final func currentKey(_ key: ObjectKey) -> ObjectKey {
        key.isTemporary ? tree.current(key, seen: keysSeen) : key
    }
}
