import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Implements `save()`.
    final func saveChanges() throws {
        adoptKeys()
        // As on Apple's platforms the changes are posted before the save is. Observers of the save may make others.
        postChanges()
        announceWillSave()
        guard pending.changeCount > 0 else { return try saveNoObjects() }
        postChanges()
        try callWillSave()
        compactListed()
        guard pending.changeCount > 0 else { return try saveNoObjects() }
        // Checked before validation, which would reject values that could not be read, and after it, because validation reads.
        try checkReading()
        if !making.skipsValidation { try validateForSave() }
        try checkReading()
        registerUndo()
        do {
            recorder?.isSuspended = true
            defer { recorder?.isSuspended = false }
            if parentContext == nil { try saveToStores() } else { try saveToParent() }
        }
        let announcement = announcement(of: pending.listed)
        var saved = pending.listed
        // An observer of the save may reset the context, so the rows' memory is kept here.
        let memory = readState.memory
        pending.listed = []
        pending.checked = []
        pending.changeCount = 0
        endMergedDeletions(isSaved: true)
        identities.observer?.beginGathering()
        for object in saved { finishSave(of: object) }
        NSManagedObjectID.noteChanges()
        if let observer = identities.observer { finishSave(of: saved, observer) }
        if parentContext == nil { lineage.keysSeen = tree.count }
        for object in saved { object.callDidSave() }
        lineage.resultsFollowers?.report(.saved(saved))
        announcement?.post()
        withExtendedLifetime(memory) { keepRows(ofDeleted: &saved) }
        sweepIfNeeded()
    }

    /// Ends a save in which no object has changed: stores write their metadata, and a save without objects is announced.
    private func saveNoObjects() throws {
        if parentContext == nil { try saveMetadata(besides: []) }
        advanceGeneration()
        pending.derivedKeys = []
        let announcement = announcement(of: [])
        endMergedDeletions(isSaved: true)
        announcement?.post()
    }

    /// Writes the changed metadata of the stores that have no batch.
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
            "Nothing was saved: a value could not be read before, and changes may be derived from its absence. Roll the context "
                + "back and make the changes again. The reading failed with: \(reason)",
            info)
    }

    /// Removes objects from `listed` that the next save does not write.
    final func compactListed() {
        guard pending.listed.contains(where: { $0.state.isDisjoint(with: .changed) || $0.state.contains(.detached) }) else { return }
        for object in pending.listed where object.state.isDisjoint(with: .changed) || object.state.contains(.detached) {
            object.state.remove(.listed)
        }
        pending.listed.removeAll { $0.state.isDisjoint(with: .changed) || $0.state.contains(.detached) }
    }

    final func makeBatches() throws -> [(NSPersistentStore, SaveBatch)] {
        var batches: [(NSPersistentStore, SaveBatch)] = []
        let find: (ObjectKey) -> NSManagedObject? = { [unowned(unsafe) self] in self.identities[$0] }
        for object in pending.listed {
            // An object with a permanent ID belongs to its store, even if that was removed.
            if object.runtime.store == nil || object.runtime.isRetired && object.isInserted && object.key.isTemporary { try adoptStore(object) }
            guard let store = object.runtime.store else { throw CoreDataError.noStore(for: object.entity) }
            let batch: SaveBatch
            if let last = batches.last, last.0 === store {
                batch = last.1
            } else if let known = batches.first(where: { $0.0 === store }) {
                batch = known.1
            } else {
                batch = SaveBatch(origin: transactionOrigin, context: self, object: find)
                batches.append((store, batch))
            }
            if object.isDeleted {
                // An object whose row had vanished needs no deletion in the store.
                if !object.state.contains(.inaccessible) { batch.deleted.append(object) }
            } else if object.isInserted, object.storage?.isRevived != true {
                batch.inserted.append(object)
            } else {
                batch.updated.append(object)
            }
        }
        return batches
    }

    /// Assigns a store to an object that was inserted before its store was added, or for a store that was removed.
    private func adoptStore(_ object: NSManagedObject) throws {
        guard object.isInserted else { throw CoreDataError.removedStore(of: object.entity) }
        guard let found = coordinator?.runtime(for: object.entity), found.store != nil else {
            throw CoreDataError.noStore(toSave: object)
        }
        object.entityInContext = entity(of: found)
    }

    private func finishSave(of object: NSManagedObject) {
        let state = object.state
        if state.contains(.deleted), object.key.isTemporary { object.keepID() }
        object.state.subtract([.inserted, .updated, .listed, .processed])
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
        // The values are in the log now; the next read binds the object to its new row.
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
    /// Binds objects of incremental stores to the rows that were saved, so that their stores need not be asked for them.
    private func finishSave(of saved: [NSManagedObject], _ observer: RegistrationObserver) {
        if parentContext == nil {
            for object in saved where object.rowVersion != 0 && !object.state.contains(.detached) {
                guard let store = object.runtime.store, store.seam.registrationStore != nil,
                    let row = try? view(of: store).row(object.key, version: object.rowVersion)
                else { continue }
                object.bind(row)
            }
        }
        observer.endGathering()
    }
}

extension NSManagedObject {
    /// Drops the object's storage except its publisher and its fetched properties.
    final func dropStorage() {
        guard let old = storage, old.publisher != nil || !old.fetched.isEmpty else {
            storage = nil
            return
        }
        storage = ObjectStorage()
        storage?.publisher = old.publisher
        storage?.fetched = old.fetched
    }

    /// The transient attributes that have values; saves and refreshes keep them.
    final func transientValues() -> [(Int, ManagedValue)]? {
        guard let storage, !storage.values.isEmpty else { return nil }
        let values = storage.values.enumerated().filter { index, value in
            let property = runtime.properties[index]
            return property.isTransient && !value.isUnset && !(value.isNull && property.initial.isNull)
        }
        return values.isEmpty ? nil : values.map { ($0.offset, $0.element) }
    }
}
