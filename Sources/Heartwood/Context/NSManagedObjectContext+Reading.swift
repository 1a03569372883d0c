import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Points `object` at its newest row.
    /// - Returns: false where the store has no such row, or cannot read it.
    final func readRow(of object: NSManagedObject) -> Bool {
        guard let store = object.runtime.store, let row = reading({ try row(of: object, view(of: store)) }) ?? nil else { return false }
        object.bind(row)
        return true
    }

    /// What this context saved stays what it shows, and what its next save compares with, whoever has saved since.
    private func row(of object: NSManagedObject, _ view: StoreView) throws -> RowView? {
        let row = try view.row(object.key)
        guard object.rowVersion != 0, row?.version != object.rowVersion else { return row }
        return try view.row(object.key, version: object.rowVersion) ?? row
    }

    /// Binary data that lies outside its row; nil, and the failure kept, where it is damaged.
    final func externalData(_ access: ColumnAccess, of row: RowView, in runtime: EntityRuntime) -> Data? {
        guard let store = runtime.store else { return nil }
        return reading {
            // A row may be of a file that a compaction has replaced since: only there do its pointers' checksums hold.
            var files = [try view(of: store).storage]
            for file in pinned.reversed() where file !== files[0] { files.append(file) }
            var failure: StoreError?
            for case let file as LogFile in files {
                do throws(StoreError) {
                    if let value = try file.value(access, of: row) { return try Data(value) }
                } catch {
                    failure = failure ?? error
                }
            }
            throw failure.map { RecordLogErrors.wrap($0) } ?? CoreDataError.noStore(for: runtime.entity)
        } ?? nil
    }

    /// What a getter asks a store for; nil, and the failure kept, where it cannot be read.
    @inline(__always)
    private func reading<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch {
            readingFailure = readingFailure ?? error
            return nil
        }
    }

    /// The members that the store lists for a to-many relationship.
    final func storedMembers(of object: NSManagedObject, property: Int) -> [ObjectKey] {
        guard !object.key.isTemporary, let store = object.runtime.store else { return [] }
        return reading { try view(of: store).members(of: object.key, runtime: object.runtime, property: property) } ?? []
    }

    final func storedMemberCount(of object: NSManagedObject, property: Int) -> Int {
        guard !object.key.isTemporary, let store = object.runtime.store else { return 0 }
        return reading { try view(of: store).memberCount(of: object.key, runtime: object.runtime, property: property) } ?? 0
    }

    /// The object with this ID if the context has it registered; reads nothing.
    public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        return isForeign(objectID) ? nil : identities[objectID.key]
    }

    /// The object with this ID: the registered one, or a fault. Reads nothing, so the object may turn out not to exist
    /// when its fault fires.
    /// - Precondition: the ID belongs to a store of this context's coordinator.
    public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        guard !isForeign(objectID), let object = object(for: objectID.key) else {
            preconditionFailure("\(objectID) does not belong to a store of this context's coordinator.")
        }
        return object
    }

    /// The object with this ID, read from the store: never a fault.
    /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) where there is no such object.
    public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue()
        guard !isForeign(objectID), let object = object(for: objectID.key), !object.isDeleted else {
            throw CoreDataError.missingObject(objectID)
        }
        if object.rowBody == nil, !object.isInserted {
            guard let store = object.runtime.store, let row = try view(of: store).row(object.key) else {
                throw CoreDataError.missingObject(objectID)
            }
            object.bind(row)
        }
        object.willAccessValue(forKey: nil)
        return object
    }

    /// Turns an object into a fault again, so that its next use reads the store. With `mergeChanges` its unsaved changes
    /// stay on top of the newer row; without, they are dropped.
    public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        checkQueue()
        guard !object.isInserted else { return }
        if mergeChanges, object.hasChanges {
            rebase(object)
            object.wake(fromSnapshotEvents: .refresh)
        } else {
            if !object.isDeleted { forgetChanges(of: object) }
            object.becomeFault()
        }
        noteEvent(.refreshed, object)
    }

    /// Refreshes every registered object, keeping unsaved changes.
    public final func refreshAllObjects() {
        for object in identities.all { refresh(object, mergeChanges: true) }
        identities.sweep()
    }
}
