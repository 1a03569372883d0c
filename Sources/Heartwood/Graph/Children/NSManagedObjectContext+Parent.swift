import Foundation

extension NSManagedObjectContext {
    /// Sets `parent`; the property's setter calls this.
    final func setParent(_ newValue: NSManagedObjectContext?) {
        guard newValue !== parentContext else { return }
        demand(
            parentContext == nil && lineage.ownCoordinator == nil && identities.count == 0,
            "A context's parent is set once, before it is used and in place of a persistent store coordinator; make a new context.")
        guard let newValue else { return }
        demand(newValue !== self && !newValue.descends(from: self), "A context cannot be its own ancestor.")
        if lineage.isFollowing {
            feed?.remove(self)
            newValue.followers.add(self)
        }
        adopt(newValue)
    }

    /// The source of the saves and merges that this context follows: its parent, or its coordinator.
    final var feed: ContextFollowers? { parentContext?.followers ?? lineage.ownCoordinator?.followers }

    /// Whether `other` is an ancestor of this context.
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
        guard let parentContext else { preconditionFailure("a root context has no parent") }
        return try parentContext.performAndWait {
            parentContext.adoptKeys()
            return try body(parentContext)
        }
    }

    // MARK: Names

    /// Adopts the renames of keys since the last call. Called where no caller holds a key.
    /// - Complexity: one load, or O(registered objects) after a save of the root that inserted objects.
    @inline(__always)
    final func adoptKeys() {
        if tree.count != lineage.keysSeen { takeRenames() }
    }

    @inline(never)
    private func takeRenames() {
        let renames = tree.renames(after: lineage.keysSeen)
        lineage.keysSeen = renames.count
        guard !renames.map.isEmpty else { return }
        var merged: [NSManagedObject] = []
        for (old, new) in renames.map {
            guard let object = identities.remove(old) else { continue }
            guard identities[new] == nil else {
                merged.append(object)
                continue
            }
            object.key = new
            // The store may have been added, or another one assigned to the object, after this context learned of the object.
            if object.runtime.slot != new.slot, let found = entity(slot: new.slot) { object.entityInContext = found }
            identities.insert(object, for: new)
        }
        identities.forEach { $0.rename(renames.map) }
        NSManagedObjectID.noteChanges()
        // The root merged two objects, and this context knows both: one instance leaves the context.
        for object in merged {
            noteEvent(.deleted, object)
            forget(gone: object)
        }
    }

    /// Returns this context's current name of a key that may be an old one.
    final func currentKey(_ key: ObjectKey) -> ObjectKey {
        key.isTemporary ? tree.current(key, seen: lineage.keysSeen) : key
    }
}
