import Foundation
import RecordLog

/// One save to an incremental store: what the stack looks at first, the request, and what it reads of the new state.
struct IncrementalSave {
    private let store: NSIncrementalStore
    private let view: IncrementalView
    private let batch: SaveBatch
    private let context: NSManagedObjectContext

    init(_ store: NSIncrementalStore, _ view: IncrementalView, _ batch: SaveBatch, _ context: NSManagedObjectContext) {
        self.store = store
        self.view = view
        self.batch = batch
        self.context = context
    }

    func run() throws {
        try checkValues()
        try checkVersions()
        try IncrementalUniqueness(store, view, batch, context).check()
        try rebaseMembers()
        // One that was brought back may be there still: it was deleted in its context alone.
        let revived = try batch.updated.filter { try $0.storage?.isRevived == true && view.row($0.key) == nil }
        let request = NSSaveChangesRequest(
            inserted: Set(batch.inserted + revived), updated: Set(batch.updated).subtracting(revived), deleted: Set(batch.deleted),
            locked: Set(batch.checked))
        do {
            _ = try store.execute(request, with: context)
        } catch {
            let conflicts = (error as NSError).userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
            guard CoreDataError.isCode(NSManagedObjectMergeError, error), !conflicts.isEmpty else { throw error }
            throw VersionConflicts(objects: conflicts.map(\.sourceObject))
        }
        for object in batch.inserted { object.storage?.permanentKey = object.key }
        for object in batch.inserted + batch.updated {
            // What cannot be read now is read when it is used; its version is not compared then.
            let version = ((try? view.row(object.key)) ?? nil)?.version ?? 0
            object.storage?.savedVersion = version
            if version == 0 { object.rowVersion = 0 }
        }
    }

    /// Relationships must lead to objects of this store, and a transformable's value must be one that is read again.
    private func checkValues() throws {
        guard let schema = store.schema else { return }
        for object in batch.inserted + batch.updated {
            for (index, value) in (object.storage?.values ?? []).enumerated() {
                _ = try value.transformed(index, of: object.entity, object)
                let keys = switch value {
                case .reference(let key): key.isNone ? [] : [key]
                case .toMany(let state): state.added
                default: [] as [ObjectKey]
                }
                if keys.contains(where: { $0.isTemporary || !schema.holds($0, slotBase: store.slotBase) }) {
                    throw CoreDataError.foreignDestination(of: object, index)
                }
            }
        }
    }

    /// Others may have added and removed members since this context read them: the store is given those of both. An order that was
    /// not read is read here: a store that asks for it while it saves would see its own half-written state below the changes.
    private func rebaseMembers() throws {
        for object in batch.updated where object.storage?.isRevived != true {
            for (index, value) in (object.storage?.values ?? []).enumerated() {
                guard case .toMany(let state) = value, state.isChanged, state.isFired || object.runtime.properties[index].isOrdered else {
                    continue
                }
                let stored = try view.members(of: object.key, runtime: object.runtime, property: index)
                if state.isFired { state.rebase(stored) } else { state.fire(stored) }
            }
        }
    }

    /// An object must be stored as it was read or saved last.
    private func checkVersions() throws {
        var conflicts: [NSManagedObject] = []
        for object in batch.updated + batch.deleted + batch.checked where object.rowVersion != 0 {
            if try view.row(object.key)?.version != object.rowVersion { conflicts.append(object) }
        }
        guard conflicts.isEmpty else { throw VersionConflicts(objects: conflicts) }
        for object in batch.updated where object.rowVersion == 0 && object.storage?.isRevived != true {
            guard try view.row(object.key) != nil else { throw CoreDataError.missingObject(object.objectID) }
        }
    }
}
