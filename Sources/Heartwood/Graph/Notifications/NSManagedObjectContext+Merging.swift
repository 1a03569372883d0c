import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Implements `mergeChanges(fromContextDidSave:)`.
    final func mergeSave(of notification: Notification) {
        checkQueue("mergeChanges(fromContextDidSave:)")
        guard (notification.object as AnyObject?) !== self else { return }
        // A descendant's save is already here, or waits in a context between.
        if let source = notification.object as? NSManagedObjectContext, source.descends(from: self) { return }
        for store in coordinator?.persistentStores ?? [] { store.followOthers() }
        var changes = MergedChanges(notification.userInfo ?? [:], for: self)
        changes.source = notification.object as? NSManagedObjectContext
        changes.isPartial = changes.source == nil
        merge(changes)
    }

    /// Merges changes of another process or an extension into several contexts, each on its queue.
    ///
    /// Objects that the dictionary does not name, such as those at the other end of a relationship, read their relationships again.
    /// - Parameters:
    ///   - data: arrays or sets of objects' IDs or their URIs, under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`, `NSDeletedObjectsKey`, or the
    ///     corresponding keys for IDs.
    ///   - contexts: the contexts that take the changes over.
    /// - Complexity: O(objects named + objects registered).
    public class func mergeChanges(fromRemoteContextSave data: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in contexts {
            for store in context.coordinator?.persistentStores ?? [] { store.followOthers() }
            var changes = MergedChanges(data, for: context)
            changes.isPartial = true
            context.performAndWait { context.merge(changes) }
        }
    }

    /// Implements the setter of `automaticallyMergesChangesFromParent`.
    final func follow(_ shouldFollow: Bool) {
        guard shouldFollow != lineage.isFollowing else { return }
        lineage.isFollowing = shouldFollow
        if shouldFollow { feed?.add(self) } else { feed?.remove(self) }
    }

    final func merge(_ changes: MergedChanges) {
        advanceGeneration()
        mergeHere(changes)
        guard !followers.isEmpty else { return }
        // An object that this context will insert again still exists for its children.
        var changes = changes
        changes.deleted = changes.deleted.filter { registeredObject(for: $0.key)?.isInserted != true }
        followers.merge(changes, of: self)
    }

    private func mergeHere(_ changes: MergedChanges) {
        adoptKeys()
        for id in changes.inserted.union(changes.updated) {
            forgetMergedDeletion(id.key)
            identities.releaseUnheld(id.key)
            if let object = registeredObject(for: id.key) {
                guard !object.isInserted else { continue }
                guard !object.isDeleted else {
                    object.state.insert(.outdated)
                    if let row = newestRow(of: object) { object.leaveOwners(in: row) }
                    if isTracked { events.unregistered.note(id, isDeleted: false) }
                    continue
                }
                performRefresh(of: object, mergeChanges: true)
            } else if ContextNotification.didChange.isNamed, changes.inserted.contains(id), let object = object(for: id.key) {
                noteEvent(.inserted, object)
            } else if isTracked {
                events.unregistered.note(id, isDeleted: false)
            }
        }
        for id in changes.deleted {
            // An object whose deletion was undone here will be inserted again.
            guard let object = registeredObject(for: id.key) else {
                if isTracked { events.unregistered.note(id, isDeleted: true) }
                continue
            }
            guard !object.isInserted else { continue }
            noteEvent(.deleted, object)
            leave(deleted: object)
        }
        if changes.isPartial {
            forgetMembers(besides: changes)
            if isTracked { events.unregistered.isPartial = true }
        }
        finishMerging(changes)
    }

    /// Makes objects that the changes do not name read their relationships again, since named objects may have joined or left them.
    private func forgetMembers(besides changes: MergedChanges) {
        let gone = Set(changes.deleted.compactMap { ownKey(of: $0) })
        identities.sweep()
        for object in identities.all where !object.isInserted && !object.isDeleted {
            // An object that was saved here and not read since still shows its saved state.
            if !gone.isEmpty, object.rowVersion != 0 { _ = try? fulfil(object) }
            guard !gone.isEmpty, object.isKnown(toPointAtOneOf: gone) else {
                object.forgetMembers()
                continue
            }
            if object.hasChanges {
                object.forgetMembers()
                object.storage?.publisher?.send()
                noteEvent(.refreshed, object)
            } else {
                performRefresh(of: object, mergeChanges: true)
            }
        }
    }

    /// Merges all other commits to a store.
    /// - Complexity: O(registered objects); reads the newest address of each.
    final func mergeCommits(of store: NSPersistentStore) {
        // The context's own commit may be among them. Until its save has ended, its new objects have other keys, and a row that names one would
        // become a second object.
        guard !pending.isSaving else { return pending.mergesAfterSave.append(store) }
        adoptKeys()
        advanceGeneration()
        defer { followers.mergeCommits(of: store) }
        guard let view = try? view(of: store) else { return }
        identities.sweep()
        var known: [NSManagedObject] = []
        identities.forEach { if $0.runtime.store === store, !$0.isInserted, !$0.key.isTemporary { known.append($0) } }
        var changes = MergedChanges(inserted: [], updated: [], deleted: [])
        for object in known {
            let found: UnsafeRowView?
            // An object whose row cannot be read now is not gone.
            do { found = try view.row(object.key) } catch { continue }
            guard let newest = found else {
                changes.deleted.insert(object.objectID)
                continue
            }
            // A fault has no version; it reads the newest row when it fires.
            if object.rowVersion != 0, newest.version != object.rowVersion {
                changes.updated.insert(object.objectID)
            } else if !object.isDeleted {
                object.forgetMembers()
            }
        }
        if isTracked { events.unregistered.isUnknown = true }
        guard !changes.isEmpty else { return endPendingChanges() }
        mergeHere(changes)
    }

    /// Merges the commits that others made during this context's save.
    final func mergePostponed() {
        let stores = pending.mergesAfterSave
        pending.mergesAfterSave = []
        for store in stores where store.persistentStoreCoordinator != nil { mergeCommits(of: store) }
    }

    private func finishMerging(_ changes: MergedChanges) {
        if ContextNotification.didMergeIDs.isNamed {
            var info = changes.userInfo
            let refreshed = changes.updated.filter { registeredObject(for: $0.key) != nil }
            if !refreshed.isEmpty { info[NSRefreshedObjectIDsKey] = refreshed }
            info[NSManagedObjectContextQueryGenerationKey] = readState.generation
            ContextNotification.didMergeIDs.post(self, info)
        }
        endPendingChanges()
        forgetUnheldDeletions()
        leaveReplacedFiles()
    }

    private func newestRow(of object: NSManagedObject) -> UnsafeRowView? {
        guard parentContext == nil, let store = object.runtime.store else { return nil }
        return try? view(of: store).row(object.key)
    }

    /// Puts an object's unsaved changes on top of its newest row. The next save compares them with that row.
    final func rebase(_ object: NSManagedObject) {
        object.noteHidden()
        object.forgetEqualValues()
        object.keepOwners {
            object.forgetRow()
            object.state.subtract([.inaccessible, .followed])
            object.forgetMembers()
            if !object.isFault { _ = object.row }
        }
        object.storage?.publisher?.send()
    }
}

extension NSManagedObject {
    /// Whether a relationship leads to one of these objects, as far as it was read. Fires no fault.
    fileprivate final func isKnown(toPointAtOneOf keys: Set<ObjectKey>) -> Bool {
        runtime.properties.indices.contains { index in
            switch runtime.properties[index].kind {
            case .toOne: keys.contains(knownReference(index))
            case .toMany: touchedToManyState(index)?.members?.contains(where: keys.contains) ?? false
            default: false
            }
        }
    }

    /// Forgets values that equal the row's. They are no changes: over a newer row they would undo another context's changes.
    fileprivate final func forgetEqualValues() {
        // An object that is inserted again is written with all its values.
        guard let storage, !isInserted, !storage.isRevived, rowBody != nil || storage.base != nil else { return }
        for index in storage.values.indices where runtime.properties[index].hasColumn {
            let value = storage.values[index]
            if !value.isUnset, isSame(value, committedValue(index), index) { storage.values[index] = .unset }
        }
    }

    /// Makes to-many relationships and fetched properties that were read be read again. Unsaved changes to them stay.
    final func forgetMembers() {
        storage?.fetched = [:]
        guard let storage, !storage.values.isEmpty, !isInserted else { return }
        for (index, value) in storage.values.enumerated() {
            guard case .toMany(let state) = value else { continue }
            if !state.isChanged {
                storage.values[index] = .unset
            } else if state.isFired, let context = managedObjectContext {
                state.rebase(context.storedMembers(of: self, property: index))
            }
        }
    }
}
