import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// What `mergeChanges(fromContextDidSave:)` does.
    final func mergeSave(of notification: Notification) {
        checkQueue("mergeChanges(fromContextDidSave:)")
        guard (notification.object as AnyObject?) !== self else { return }
        // What a descendant has saved is here already, or waits in a context between.
        if let source = notification.object as? NSManagedObjectContext, source.descends(from: self) { return }
        for store in coordinator?.persistentStores ?? [] { store.followOthers() }
        var changes = MergedChanges(notification.userInfo ?? [:], for: self)
        changes.source = notification.object as? NSManagedObjectContext
        changes.isPartial = changes.source == nil
        merge(changes)
    }

    /// Takes over changes made elsewhere, by another process or an extension, in each of several contexts on its queue.
    ///
    /// Objects that the dictionary does not name, as those at the other end of a relationship, read their relationships again.
    /// - Parameter data: arrays or sets of object IDs or their URIs under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`,
    ///   `NSDeletedObjectsKey`, or the keys of IDs.
    /// - Complexity: O(objects named + objects registered).
    public class func mergeChanges(fromRemoteContextSave data: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in contexts {
            for store in context.coordinator?.persistentStores ?? [] { store.followOthers() }
            var changes = MergedChanges(data, for: context)
            changes.isPartial = true
            context.performAndWait { context.merge(changes) }
        }
    }

    /// What setting `automaticallyMergesChangesFromParent` does.
    final func follow(_ isWanted: Bool) {
        guard isWanted != isFollowing else { return }
        isFollowing = isWanted
        if isWanted { feed?.add(self) } else { feed?.remove(self) }
    }

    final func merge(_ changes: MergedChanges) {
        advanceGeneration()
        mergeHere(changes)
        guard !followers.isEmpty else { return }
        // What this context is to write again is there for its children.
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
                    if isTracked { events.beside.note(id, isDeleted: false) }
                    continue
                }
                performRefresh(of: object, mergeChanges: true)
            } else if ContextNotification.didChange.isNamed, changes.inserted.contains(id), let object = object(for: id.key) {
                noteEvent(.inserted, object)
            } else if isTracked {
                events.beside.note(id, isDeleted: false)
            }
        }
        for id in changes.deleted {
            // One whose deletion was taken back here is to be written again.
            guard let object = registeredObject(for: id.key) else {
                if isTracked { events.beside.note(id, isDeleted: true) }
                continue
            }
            guard !object.isInserted else { continue }
            noteEvent(.deleted, object)
            leave(deleted: object)
        }
        if changes.isPartial {
            forgetMembers(besides: changes)
            if isTracked { events.beside.isPartial = true }
        }
        finishMerging(changes)
    }

    /// Has relationships read again of objects that are not named, though what is named may have come to them or gone from them.
    private func forgetMembers(besides changes: MergedChanges) {
        let gone = Set(changes.deleted.compactMap { ownKey(of: $0) })
        identities.sweep()
        for object in identities.all where !object.isInserted && !object.isDeleted {
            // One that was saved here and not read since shows what was saved.
            if !gone.isEmpty, object.rowVersion != 0 { _ = try? fulfil(object) }
            guard !gone.isEmpty, object.isKnown(toPointAtOneOf: gone) else {
                object.forgetMembers()
                continue
            }
            if object.hasChanges {
                object.storage?.publisher?.send()
                object.forgetMembers()
                noteEvent(.refreshed, object)
            } else {
                performRefresh(of: object, mergeChanges: true)
            }
        }
    }

    /// Takes over whatever else has been committed to a store.
    /// - Complexity: O(registered objects); reads the newest address of each.
    final func mergeCommits(of store: NSPersistentStore) {
        // The context's own commit may be among them. Until the save has ended, its new objects have other keys, and a row that names one would
        // make a second object of it.
        guard !isSaving else { return mergesAfterSave.append(store) }
        adoptKeys()
        advanceGeneration()
        defer { followers.mergeCommits(of: store) }
        guard let view = try? view(of: store) else { return }
        identities.sweep()
        var known: [NSManagedObject] = []
        identities.forEach { if $0.runtime.store === store, !$0.isInserted, !$0.key.isTemporary { known.append($0) } }
        var changes = MergedChanges(inserted: [], updated: [], deleted: [])
        for object in known {
            guard object.rowVersion != 0 else {
                if !object.isDeleted { object.forgetMembers() }
                continue
            }
            guard let newest = try? view.row(object.key) else {
                changes.deleted.insert(object.objectID)
                continue
            }
            if newest.version != object.rowVersion {
                changes.updated.insert(object.objectID)
            } else if !object.isDeleted {
                object.forgetMembers()
            }
        }
        if isTracked { events.beside.isUnknown = true }
        guard !changes.isEmpty else { return endPendingChanges() }
        mergeHere(changes)
    }

    /// Merges what others had committed when this context saved.
    final func mergePostponed() {
        let stores = mergesAfterSave
        mergesAfterSave = []
        for store in stores where store.persistentStoreCoordinator != nil { mergeCommits(of: store) }
    }

    private func finishMerging(_ changes: MergedChanges) {
        if ContextNotification.didMergeIDs.isNamed {
            var info = changes.userInfo
            let refreshed = changes.updated.filter { registeredObject(for: $0.key) != nil }
            if !refreshed.isEmpty { info[NSRefreshedObjectIDsKey] = refreshed }
            info[NSManagedObjectContextQueryGenerationKey] = generation
            ContextNotification.didMergeIDs.post(self, info)
        }
        endPendingChanges()
        forgetUnheldDeletions()
        leaveReplacedFiles()
    }

    private func newestRow(of object: NSManagedObject) -> RowView? {
        guard parentContext == nil, let store = object.runtime.store else { return nil }
        return try? view(of: store).row(object.key)
    }

    /// Puts an object's unsaved changes on top of its newest row, which the next save compares with.
    final func rebase(_ object: NSManagedObject) {
        object.storage?.publisher?.send()
        object.forgetEqualValues()
        object.keepOwners {
            object.forgetRow()
            object.state.remove(.inaccessible)
            object.forgetMembers()
            if !object.isFault { _ = object.row }
        }
    }
}

extension NSManagedObject {
    /// Whether a relationship leads to one of these objects, as far as it was read; no fault fires.
    fileprivate final func isKnown(toPointAtOneOf keys: Set<ObjectKey>) -> Bool {
        runtime.properties.indices.contains { index in
            switch runtime.properties[index].kind {
            case .toOne: keys.contains(knownReference(index))
            case .toMany: touchedToManyState(index)?.members?.contains(where: keys.contains) ?? false
            default: false
            }
        }
    }

    /// Forgets values that were set to what the row says. They are no changes: on top of a newer row they would take back what others have
    /// changed in it.
    fileprivate final func forgetEqualValues() {
        // An object that comes back is written with all that it has.
        guard let storage, !isInserted, !storage.isRevived, rowBody != nil || storage.base != nil else { return }
        for index in storage.values.indices where runtime.properties[index].hasColumn {
            let value = storage.values[index]
            if !value.isUnset, isSame(value, committedValue(index), index) { storage.values[index] = .unset }
        }
    }

    /// Reads to-many relationships and fetched properties again where they were read; changes to them stay.
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
