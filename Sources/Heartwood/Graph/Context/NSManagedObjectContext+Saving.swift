import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// What `save()` does.
    final func saveChanges() throws {
        adoptKeys()
        announceWillSave()
        guard changeCount > 0 else { return try saveNoObjects() }
        postChanges()
        try callWillSave()
        compactListed()
        guard changeCount > 0 else { return try saveNoObjects() }
        // Before validation, which would find fault with what could not be read; and after it, since it reads.
        try checkReading()
        if !skipsValidation { try validateForSave() }
        try checkReading()
        registerUndo()
        do {
            recorder?.isSuspended = true
            defer { recorder?.isSuspended = false }
            if parentContext == nil { try saveToStores() } else { try saveToParent() }
        }
        let announcement = announcement(of: listed)
        var saved = listed
        // Whoever is told of the save may reset the context.
        let memory = memory
        listed = []
        checked = []
        changeCount = 0
        endMergedDeletions(isSaved: true)
        identities.observer?.beginGathering()
        for object in saved { finishSave(of: object) }
        if let observer = identities.observer { finishSave(of: saved, observer) }
        if parentContext == nil { keysSeen = tree.count }
        for object in saved { object.callDidSave() }
        resultsFollowers?.tell(.saved(saved))
        announcement?.post()
        withExtendedLifetime(memory) { keepRows(ofDeleted: &saved) }
        sweepIfWanted()
    }

    /// Ends a save in which no object has changed: stores write their metadata, and observers hear of a save without objects.
    private func saveNoObjects() throws {
        if parentContext == nil { try saveMetadata(besides: []) }
        advanceGeneration()
        derivedKeys = []
        let announcement = announcement(of: [])
        endMergedDeletions(isSaved: true)
        announcement?.post()
    }

    /// Writes what was set of stores of which no object has changed.
    final func saveMetadata(besides batches: [(store: NSPersistentStore, batch: SaveBatch)]) throws {
        for store in coordinator?.persistentStores ?? [] where !batches.contains(where: { $0.store === store }) { try store.saveMetadata() }
    }

    private func checkReading() throws {
        guard let readingFailure else { return }
        let store = readingFailure as? StoreError ?? (readingFailure as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError
        var info: [String: Any] = [NSUnderlyingErrorKey: store ?? readingFailure]
        info[NSFilePathErrorKey] = store?.path
        let reason = store.map { "\($0)" } ?? readingFailure.localizedDescription
        throw CoreDataError.make(
            NSPersistentStoreSaveError,
            "Nothing was saved: a value could not be read before, and what has changed may be derived from its absence. Roll the context "
                + "back and make the changes again. The reading failed with: \(reason)",
            info)
    }

    /// Lists only what is to be saved.
    final func compactListed() {
        guard listed.contains(where: { $0.state.isDisjoint(with: .changed) || $0.state.contains(.detached) }) else { return }
        for object in listed where object.state.isDisjoint(with: .changed) || object.state.contains(.detached) {
            object.state.remove(.listed)
        }
        listed.removeAll { $0.state.isDisjoint(with: .changed) || $0.state.contains(.detached) }
    }

    final func makeBatches() throws -> [(NSPersistentStore, SaveBatch)] {
        var batches: [(NSPersistentStore, SaveBatch)] = []
        let find: (ObjectKey) -> NSManagedObject? = { [unowned(unsafe) self] in self.identities[$0] }
        for object in listed {
            // An object with a permanent ID is its store's, be that removed.
            if object.runtime.store == nil || object.runtime.isRetired && object.isInserted && object.key.isTemporary { try adoptStore(object) }
            guard let store = object.runtime.store else { throw CoreDataError.noStore(for: object.entity) }
            let batch: SaveBatch
            if let last = batches.last, last.0 === store {
                batch = last.1
            } else if let known = batches.first(where: { $0.0 === store }) {
                batch = known.1
            } else {
                batch = SaveBatch(origin: transactionOrigin, object: find)
                batches.append((store, batch))
            }
            if object.isDeleted {
                // One whose row had vanished is gone from the store already.
                if !object.state.contains(.inaccessible) { batch.deleted.append(object) }
            } else if object.isInserted, object.storage?.isRevived != true {
                batch.inserted.append(object)
            } else {
                batch.updated.append(object)
            }
        }
        return batches
    }

    /// An object that was inserted before its store was added, or for one that was removed, takes its runtime from the store now.
    private func adoptStore(_ object: NSManagedObject) throws {
        guard object.isInserted else { throw CoreDataError.removedStore(of: object.entity) }
        guard let found = coordinator?.runtime(for: object.entity), found.store != nil else {
            throw CoreDataError.noStore(toSave: object)
        }
        object.runtime = found
    }

    private func finishSave(of object: NSManagedObject) {
        let state = object.state
        if state.contains(.deleted), object.key.isTemporary { object.keepID() }
        object.state.subtract([.inserted, .updated, .listed, .settled])
        if state.contains(.deleted) {
            identities.remove(object.key)
            object.state.insert([.detached, .erased])
            return
        }
        guard parentContext == nil else { return object.settleAfterPush() }
        if state.contains(.inserted), let permanent = object.storage?.permanentKey, !permanent.isNone {
            identities.remove(object.key)
            if object.key.isTemporary { tree.renameForChildren(object.key, to: permanent) }
            object.key = permanent
            identities.insert(object, for: permanent)
        }
        // The values are in the log now; the next read finds the row there.
        let transient = object.runtime.hasTransients ? object.transientValues() : nil
        object.rowBody = nil
        if let version = object.storage?.savedVersion, version != 0 { object.rowVersion = version }
        object.dropStorage()
        if let transient {
            let storage = object.changeStorage()
            for (index, value) in transient { storage.values[index] = value }
        }
    }
}

extension NSManagedObjectContext {
    /// Has objects of incremental stores show what was saved of them, for which their stores are not asked.
    private func finishSave(of saved: [NSManagedObject], _ observer: RegistrationObserver) {
        if parentContext == nil {
            for object in saved where object.rowVersion != 0 && !object.state.contains(.detached) {
                guard let store = object.runtime.store as? NSIncrementalStore,
                    let row = try? view(of: store).row(object.key, version: object.rowVersion)
                else { continue }
                object.bind(row)
            }
        }
        observer.endGathering()
    }
}

extension NSManagedObject {
    /// Lets go of everything beside the row but whoever observes, and what was fetched.
    final func dropStorage() {
        guard let old = storage, old.publisher != nil || !old.fetched.isEmpty else {
            storage = nil
            return
        }
        storage = ObjectStorage()
        storage?.publisher = old.publisher
        storage?.fetched = old.fetched
    }

    /// The transient attributes that have values; saves and refreshes do not drop them.
    final func transientValues() -> [(Int, ManagedValue)]? {
        guard let storage, !storage.values.isEmpty else { return nil }
        let values = storage.values.enumerated().filter { index, value in
            !value.isUnset && !value.isNull && runtime.properties[index].isTransient
        }
        return values.isEmpty ? nil : values.map { ($0.offset, $0.element) }
    }
}
