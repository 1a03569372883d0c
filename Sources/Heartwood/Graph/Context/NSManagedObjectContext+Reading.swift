import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Reads an object's newest row, or its state in the parent.
    /// - Returns: false if the object does not exist or cannot be read.
    final func readRow(of object: NSManagedObject) -> Bool {
        reading { try fulfil(object) } ?? false
    }

    /// Drops the row that a fetch has found for a fault. The fault then reads its row when it fires.
    @inline(never)
    final func unbindStale(_ object: NSManagedObject) {
        guard parentContext == nil, !object.hasChanges, let store = object.runtime.store else { return }
        store.followOthers()
        object.forgetRow()
    }

    final func store(of runtime: EntityRuntime) throws -> NSPersistentStore {
        guard let store = runtime.store else { throw CoreDataError.removedStore(of: runtime.entity) }
        return store
    }

    /// Returns the row that the object shows. After this context's own save that is the saved version, with which its next save compares,
    /// even if another context has saved since.
    final func committedRow(of object: NSManagedObject) throws -> UnsafeRowView? {
        // Without a reference to the runtime, which all contexts share.
        let last = Unmanaged.passUnretained(object.runtime)._withUnsafeGuaranteedRef { lastView(of: $0) }
        if let last { return try committedRow(of: object, in: last.view) }
        return try committedRow(of: object, in: view(of: store(of: object.runtime)))
    }

    @inline(__always)
    private final func committedRow(of object: NSManagedObject, in view: any StoreView) throws -> UnsafeRowView? {
        object.rowVersion == 0 ? try view.row(object.key) : try view.shownRow(object.key, version: object.rowVersion)
    }

    /// Reads binary data that is stored outside its row; nil if the data is damaged, and the failure is remembered.
    final func externalData(_ index: Int, _ access: ColumnAccess, of row: UnsafeRowView, in runtime: EntityRuntime) -> Data? {
        reading { try readExternalData(index, access, of: row, in: runtime) } ?? nil
    }

    /// - Returns: nil if the store has lost the value and goes on without it; see `MissingValueFiles`.
    final func readExternalData(_ index: Int, _ access: ColumnAccess, of row: UnsafeRowView, in runtime: EntityRuntime) throws -> Data? {
        for copies in readState.memory.copies { if let data = copies.value(of: index, in: row) { return data } }
        let view = try view(of: store(of: runtime))
        if let data = try view.dataInRow(access, of: row) { return data }
        // The row may belong to a file that a compaction has since replaced; the checksums of its pointers match only in that file.
        var files = view.file.map { [$0] } ?? []
        for file in readState.memory.files.reversed() where file !== files.first { files.append(file) }
        var failure: StoreError?
        for file in files {
            do throws(StoreError) {
                if let value = try file.value(access, of: row) { return try Data(value) }
            } catch {
                failure = failure ?? error
            }
        }
        guard let failure else {
            guard files.isEmpty else { throw CoreDataError.noStore(for: runtime.entity) }
            return nil
        }
        throw RecordLogErrors.wrap(failure)
    }

    /// Runs a getter's read. Getters cannot throw: a failure is remembered in `readingFailure`, and the result is nil.
    @inline(__always)
    private func reading<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch {
            readingFailure = readingFailure ?? error
            return nil
        }
    }

    /// The stored members of a to-many relationship.
    final func storedMembers(of object: NSManagedObject, property: Int) -> [ObjectKey] {
        guard !object.isInserted else { return [] }
        let members = reading { try committedMembers(of: object, property: property) }
        queries.membersObserver?(members?.count ?? 0)
        return members ?? []
    }

    final func storedMemberCount(of object: NSManagedObject, property: Int) -> Int {
        guard !object.isInserted else { return 0 }
        return reading { try committedMemberCount(of: object, property: property) } ?? 0
    }

    /// The first stored member for which `isIncluded` is true.
    final func firstStoredMember(of object: NSManagedObject, property: Int, where isIncluded: (ObjectKey) -> Bool) -> ObjectKey? {
        guard !object.isInserted else { return nil }
        return reading {
            try firstCommittedMember(of: object, property: property) { key in
                queries.membersObserver?(1)
                return isIncluded(key)
            }
        } ?? nil
    }

    /// Whether the store has `member` among the members of an object's relationship. One look-up.
    final func stores(_ member: ObjectKey, in object: NSManagedObject, property: Int) -> Bool {
        guard !object.isInserted else { return false }
        queries.membersObserver?(1)
        return reading { try commits(member, in: object, property: property) } ?? false
    }

    /// Implements `registeredObject(for:)`.
    final func objectAtHand(with objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue("registeredObject(for:)")
        adoptKeys()
        guard let key = ownKey(of: objectID) else { return nil }
        identities.releaseUnheld(key)
        return registeredObject(for: key) ?? pending.mergedDeletions[key]
    }

    /// Implements `object(with:)`.
    final func registeredObjectOrFault(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue("object(with:)")
        adoptKeys()
        let own = ownKey(of: objectID)
        if let own, let object = mergedDeletion(own) { return object }
        guard let key = own, let object = object(for: key) else {
            misuse("\(objectID) does not belong to a store of this context's coordinator.")
        }
        return object
    }

    /// Implements `existingObject(with:)`.
    final func readObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue("existingObject(with:)")
        adoptKeys()
        guard let key = ownKey(of: objectID) else { throw CoreDataError.missingObject(objectID) }
        // Another process may have saved the object since this process last followed the store.
        try runtime(slot: key.slot)?.store?.seam.follow()
        learnOfChanges()
        guard let object = object(for: key), !object.isDeleted else { throw CoreDataError.missingObject(objectID) }
        object.unbindFault(making.epoch)
        guard try isFound(object) else { throw CoreDataError.missingObject(objectID) }
        object.fireFault()
        return object
    }

    private func isFound(_ object: NSManagedObject) throws -> Bool {
        guard parentContext == nil else { return try fulfil(object) }
        guard object.rowBody == nil, !object.isInserted else { return true }
        guard let store = object.runtime.store, let row = try view(of: store).row(object.key) else { return false }
        object.bind(row)
        return true
    }

    /// Implements `refresh(_:mergeChanges:)`.
    final func performRefresh(of object: NSManagedObject, mergeChanges: Bool) {
        checkQueue("refresh(_:mergeChanges:)")
        adoptKeys()
        object.storage?.fetched = [:]
        guard !object.state.contains(.detached) else { return }
        guard !object.isInserted else {
            if !mergeChanges { dropInsertedValues(of: object) }
            return
        }
        // An object that counts as deleted because its row had vanished was not deleted by this context, so its row is read again.
        let isMissing = object.state.isSuperset(of: [.deleted, .inaccessible])
        if mergeChanges, !isMissing, object.hasChanges {
            rebase(object)
            object.wake(fromSnapshotEvents: .refresh)
        } else {
            if !object.isDeleted || isMissing {
                if object.hasChanges { object.withdrawFromOwners() }
                forgetChanges(of: object)
            }
            object.becomeFault()
        }
        noteEvent(.refreshed, object)
    }

    /// Gives an inserted object its initial values again, because no store has a row for it; it is a fault until it is read.
    private func dropInsertedValues(of object: NSManagedObject) {
        let isRevived = object.storage?.isRevived ?? false
        object.withdrawFromOwners()
        object.becomeFault()
        let storage = object.changeStorage()
        storage.values = object.runtime.initialValues
        storage.isRevived = isRevived
        noteEvent(.refreshed, object)
    }

    /// Implements `refreshAllObjects()`.
    final func performRefreshOfAllObjects() {
        checkQueue("refreshAllObjects()")
        advanceGeneration()
        identities.sweep()
        for object in identities.all { performRefresh(of: object, mergeChanges: true) }
    }
}
