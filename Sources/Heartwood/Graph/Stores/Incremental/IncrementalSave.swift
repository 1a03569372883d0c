import Foundation
import RecordLog

/// One save to an incremental store: the checks that the stack makes first, the request, and the rows of the new state.
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
        let rows = try checkVersions()
        var derived: [ObjectKey: UnsafeRowView] = [:]
        try IncrementalUniqueness(store, view, batch, context).check()
        try rebaseMembers()
        // A deletion that was undone may never have reached the store.
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
        let written = batch.inserted + batch.updated
        // Only the store derives attributes.
        try? view.rows(written.map(\.key).filter { store.table(of: $0)?.derivations != nil }) { derived[$0] = $1 }
        for object in written {
            // A row that cannot be read now is read on its next use; its version is not compared then.
            let version = (try? savedVersion(of: object, over: rows[object.key], derived)) ?? 0
            object.storage?.savedVersion = version
            if version == 0 { object.rowVersion = 0 }
        }
        for object in batch.deleted { store.forgetSave(of: object.key) }
    }

    /// Keeps the saved values as the object's row, without a request to the store. A row with derived attributes is read from the store, which
    /// derives them.
    private func savedVersion(
        of object: NSManagedObject, over row: UnsafeRowView?, _ derived: [ObjectKey: UnsafeRowView]
    ) throws -> UInt32 {
        guard let table = store.table(of: object.key), table.derivations == nil else { return derived[object.key]?.version ?? 0 }
        let version = store.noteSave(of: object.key)
        try view.keepSaved(object, table, over: row, version: version)
        return version
    }

    /// Checks that relationships lead to objects of this store, and that a transformable's value can be read again.
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

    /// Others may have added and removed members since this context read them: the store receives the changes of both. An order that was not read
    /// is read here, since a store that reads it during its save would see its own half-written state below the changes.
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

    /// Checks that each object's stored version is the one it read or saved last.
    /// - Returns: the stored rows of the updated objects.
    private func checkVersions() throws -> [ObjectKey: UnsafeRowView] {
        let read = (batch.updated + batch.deleted + batch.checked).filter { $0.rowVersion != 0 }
        let unread = batch.updated.filter { $0.rowVersion == 0 && $0.storage?.isRevived != true }
        var rows = try rowsOfKnownVersions(read)
        let asked = read.filter { rows[$0.key] == nil }
        try view.rows((asked + unread).map(\.key)) { rows[$0] = $1 }
        let conflicts = try asked.filter { object in
            let row = rows[object.key]
            return try row?.version != object.rowVersion && !goesOver(object, to: row)
        }
        guard conflicts.isEmpty else { throw VersionConflicts(objects: conflicts) }
        if let gone = unread.first(where: { rows[$0.key] == nil }) { throw CoreDataError.missingObject(gone.objectID) }
        return rows
    }

    /// The rows of objects whose stored version, as the store tells it, is the one that they have.
    private func rowsOfKnownVersions(_ objects: [NSManagedObject]) throws -> [ObjectKey: UnsafeRowView] {
        guard !objects.isEmpty, let versions = try view.versions(objects.map(\.key)) else { return [:] }
        var rows: [ObjectKey: UnsafeRowView] = [:]
        for object in objects where versions[object.key] == object.rowVersion {
            rows[object.key] = try object.boundRow ?? view.row(object.key, version: object.rowVersion)
        }
        return rows
    }

    /// Points an object that this context has saved, and not read since, to the store's row. If that differs from the saved values, and no other
    /// save has come since, the store itself has changed them: changes of other properties are applied on top.
    /// - Returns: false if the store has another value of a property that is changed again, and its version is hardly this context's own; for an
    ///   object that is only checked, if the store has any other value.
    private func goesOver(_ object: NSManagedObject, to row: UnsafeRowView?) throws -> Bool {
        let isLast = store.isLastSave(object.rowVersion, of: object.key)
        guard let row, isLast || view.isSave(object.rowVersion, of: object.key), let table = store.table(of: object.key),
            let saved = try object.boundRow ?? view.row(object.key, version: object.rowVersion)
        else { return false }
        let others = table.positions.indices.filter { table.positions[$0] != nil && !isSame($0, of: object, saved, row, table) }
        if !others.isEmpty {
            guard isLast, object.hasChanges else { return false }
            let values = object.storage?.values ?? []
            guard view.mayBeSaved(as: row.version, object.key) || others.allSatisfy({ $0 >= values.count || values[$0].isUnset }) else {
                return false
            }
            object.storage?.publisher?.send()
        }
        object.bind(row)
        return true
    }

    /// Whether two rows have equal values for an object. Equal values may have different archives.
    private func isSame(_ property: Int, of object: NSManagedObject, _ saved: UnsafeRowView, _ row: UnsafeRowView, _ table: EntityTable) -> Bool {
        if table.isEqual(property, saved, row) { return true }
        let kind = table.runtime.properties[property].kind
        guard kind == .transformable, let old = table.runtime.access(property, in: saved), let new = table.runtime.access(property, in: row) else {
            return false
        }
        func value(_ row: UnsafeRowView, _ access: ColumnAccess) -> ManagedValue {
            ManagedValue(row: row, access: access, kind: kind, slotBase: store.slotBase)
        }
        return object.isSame(value(saved, old), value(row, new), property)
    }
}
