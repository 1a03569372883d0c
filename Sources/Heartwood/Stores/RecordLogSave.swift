import Foundation
import RecordLog

/// Writes one save batch into one transaction of a record log.
///
/// The order matters: row numbers first, since rows refer to each other; versions next, so that a conflict costs nothing;
/// then rows, uniqueness, links, and deletions last.
struct RecordLogSave {
    let transaction: Transaction
    let schema: RecordLogSchema
    let slotBase: UInt64
    let batch: SaveBatch
    /// Whether anything was put or deleted.
    private(set) var hasWritten = false
    private let builder = RowBuilder()
    private var claims = UniqueClaims()

    init(transaction: Transaction, schema: RecordLogSchema, slotBase: UInt64, batch: SaveBatch) {
        self.transaction = transaction
        self.schema = schema
        self.slotBase = slotBase
        self.batch = batch
    }

    mutating func run() throws {
        try assignRows()
        try checkVersions()
        for object in batch.inserted { try writeInserted(object) }
        for object in batch.updated { try writeUpdated(object) }
        if let violations = claims.violations { throw violations }
        var links = RecordLogLinkSave(transaction: transaction, slotBase: slotBase, batch: batch)
        for object in batch.inserted { try links.write(object, table: table(of: object)) }
        for object in batch.updated { try links.write(object, table: table(of: object)) }
        try links.finish()
        for object in batch.deleted {
            try links.remove(object, table: table(of: object))
            if try transaction.delete(reference(object.key)) { hasWritten = true }
        }
        hasWritten = hasWritten || links.hasWritten
    }

    private func table(of object: NSManagedObject) throws -> EntityTable {
        let id = TableID(rawValue: UInt16(truncatingIfNeeded: (UInt64(object.runtime.slot) &- (slotBase >> 48))))
        guard let table = schema.table(id), table.runtime === object.runtime else { throw CoreDataError.noStore(for: object.entity) }
        return table
    }

    private func reference(_ key: ObjectKey) -> RowReference {
        RowReference(rawValue: key.rawValue &- slotBase)
    }

    private func assignRows() throws {
        for object in batch.inserted {
            let table = try table(of: object)
            let row = try transaction.newRow(in: table.id)
            object.storage?.permanentKey = ObjectKey(slot: object.runtime.slot, row: row)
        }
    }

    // MARK: Conflicts

    /// Each changed object was read or saved at some version of its row; the row must still be at that version.
    private mutating func checkVersions() throws {
        var conflicts: [NSManagedObject] = []
        for object in [batch.updated, batch.deleted, batch.checked].joined() {
            let reference = reference(object.key)
            let table = try table(of: object)
            if table.hasUniqueIndexes, object.isDeleted || isWritten(object, table) { claims.release(reference) }
            guard object.rowVersion != 0 else { continue }
            let current = try transaction.row(reference)
            if current?.version != object.rowVersion { conflicts.append(object) }
        }
        guard conflicts.isEmpty else { throw VersionConflicts(objects: conflicts) }
    }

    /// Whether an updated object's own row changes; members of a to-many relationship are not in it.
    private func isWritten(_ object: NSManagedObject, _ table: EntityTable) -> Bool {
        guard let values = object.storage?.values, !values.isEmpty else { return false }
        return zip(values, table.positions).contains { $0.1 != nil && !$0.0.isUnset }
    }

    // MARK: Rows

    private mutating func writeInserted(_ object: NSManagedObject) throws {
        try writeWhole(object, object.storage?.values ?? [], key: object.storage?.permanentKey ?? .none, table: table(of: object))
        object.storage?.savedVersion = 1
    }

    private mutating func writeWhole(_ object: NSManagedObject, _ values: [ManagedValue], key: ObjectKey, table: EntityTable) throws {
        builder.begin(table.layout)
        for (property, position) in table.positions.enumerated() {
            guard let position, property < values.count else { continue }
            try encode(values[property], at: position, of: object, property: property, table: table)
        }
        try put(object, key: key, table: table)
    }

    private mutating func writeUpdated(_ object: NSManagedObject) throws {
        object.storage?.savedVersion = 0
        let table = try table(of: object)
        guard isWritten(object, table) else { return }
        let values = object.storage?.values ?? []
        guard let row = try transaction.row(reference(object.key)) else {
            guard object.storage?.isRevived == true else { throw CoreDataError.missingObject(object.objectID) }
            try writeWhole(object, values, key: object.key, table: table)
            object.storage?.savedVersion = try transaction.row(reference(object.key))?.version ?? 0
            return
        }
        guard let accesses = object.runtime.accesses(row.layoutID) else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "A row of \(table.runtime.entity.name ?? "?") has an unknown layout.")
        }
        builder.begin(table.layout)
        for (property, position) in table.positions.enumerated() {
            guard let position else { continue }
            if values[property].isUnset {
                let access = accesses[property]
                if !access.isAbsent, !row.isNull(access) { builder.copy(position, from: row, access) }
            } else {
                if try keepsExternalData(values[property], at: position, row, accesses[property]) { continue }
                try encode(values[property], at: position, of: object, property: property, table: table)
            }
        }
        try put(object, key: object.key, table: table, replacing: row)
    }

    private mutating func encode(
        _ value: ManagedValue, at position: Int, of object: NSManagedObject, property: Int, table: EntityTable
    ) throws {
        switch value {
        case .reference(let key):
            if !key.isNone { builder.set(position, reference: try stored(key, object, property)) }
        case .data(let data) where table.layout.columns[position].type == .value:
            builder.set(position, value: try transaction.writeValue(data))
        default:
            try value.encode(into: builder, at: position)
        }
    }

    /// Whether external data was set to what it is: it is not written again then.
    private func keepsExternalData(_ value: ManagedValue, at position: Int, _ row: RowView, _ access: ColumnAccess) throws -> Bool {
        guard case .data(let data) = value, let stored = try transaction.value(access, of: row), try stored.isEqual(to: data)
        else { return false }
        builder.copy(position, from: row, access)
        return true
    }

    /// The reference that a row keeps for a destination, inserted by this batch or saved before.
    private func stored(_ key: ObjectKey, _ object: NSManagedObject, _ property: Int) throws -> RowReference {
        if key.isTemporary {
            if let permanent = batch.object(key)?.storage?.permanentKey, !permanent.isNone { return reference(permanent) }
        } else if schema.holds(key, slotBase: slotBase) {
            return reference(key)
        }
        throw CoreDataError.make(
            NSManagedObjectExternalRelationshipError,
            "\(object.entity.name ?? "?").\(object.runtime.properties[property].name) points at an object that this store does "
                + "not hold; relationships do not cross stores, and the object must be inserted in the same context.",
            [NSAffectedObjectsErrorKey: [object]])
    }

    private mutating func put(
        _ object: NSManagedObject, key: ObjectKey, table: EntityTable, replacing old: RowView? = nil
    ) throws {
        let reference = reference(key)
        let body = builder.finish()
        for index in table.indexes where index.isUnique {
            try claims.claim(body: body, table: table, index: index, object: object, reference: reference, transaction: transaction)
        }
        let version = old?.version
        if let old, old.byteCount == body.count, memcmp(old.body, body.baseAddress!, body.count) == 0 { return }
        try transaction.put(reference, body: body)
        hasWritten = true
        if let version { object.storage?.savedVersion = version &+ 1 }
    }
}

extension RecordLogSchema {
    /// Whether `key` is of a table of this store.
    func holds(_ key: ObjectKey, slotBase: UInt64) -> Bool {
        let table = (key.rawValue >> 48) &- (slotBase >> 48)
        return table <= UInt64(UInt16.max) && self.table(TableID(rawValue: UInt16(table))) != nil
    }
}
