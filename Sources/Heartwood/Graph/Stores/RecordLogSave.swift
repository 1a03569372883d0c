import Foundation
import RecordLog

/// Writes one save batch into one transaction of a record log.
///
/// The order matters: row numbers first, since rows refer to each other; then rows with their versions, uniqueness, links, and deletions last. If
/// it throws, nothing is committed.
struct RecordLogSave {
    let transaction: Transaction
    let schema: RecordLogSchema
    let slotBase: UInt64
    let batch: SaveBatch
    /// Whether the owner of members that changed gets a new version.
    let versionsOwners: () -> Bool
    /// Whether anything was put or deleted.
    private(set) var hasWritten = false
    private let builder = RowBuilder()
    private var claims = UniqueClaims()
    /// The objects whose rows another context or process has changed.
    private var conflicts: [NSManagedObject] = []

    init(transaction: Transaction, schema: RecordLogSchema, slotBase: UInt64, batch: SaveBatch, versionsOwners: @escaping () -> Bool) {
        self.transaction = transaction
        self.schema = schema
        self.slotBase = slotBase
        self.batch = batch
        self.versionsOwners = versionsOwners
    }

    mutating func run() throws {
        try assignRows()
        for object in batch.inserted { try writeInserted(object) }
        for object in batch.updated { try writeUpdated(object) }
        for object in batch.deleted { try prepareDeletion(of: object) }
        for object in batch.checked { _ = try currentRow(of: object) }
        guard conflicts.isEmpty else { throw VersionConflicts(objects: conflicts) }
        try claims.check(transaction)
        var links = RecordLogLinkSave(transaction: transaction, slotBase: slotBase, batch: batch)
        for object in batch.inserted { try links.write(object, table: table(of: object)) }
        for object in batch.updated { try links.write(object, table: table(of: object)) }
        try links.finish()
        for object in batch.deleted {
            try links.remove(object, table: table(of: object))
            if try transaction.delete(reference(object.key)) { hasWritten = true }
        }
        hasWritten = hasWritten || links.hasWritten
        if let derivations = schema.derivations { try derive(derivations) }
    }

    private func table(of object: NSManagedObject) throws -> EntityTable {
        try schema.table(of: object.runtime, slotBase: slotBase)
    }

    private func reference(_ key: ObjectKey) -> RowReference {
        RowReference(rawValue: key.rawValue &- slotBase)
    }

    private func assignRows() throws {
        for object in batch.inserted {
            let table = try table(of: object)
            guard object.key.isTemporary else {
                object.storage?.permanentKey = object.key
                continue
            }
            let row = try transaction.newRow(in: table.id)
            object.storage?.permanentKey = ObjectKey(slot: object.runtime.slot, row: row)
        }
    }

    // MARK: Conflicts

    /// The object's row. Records a conflict if its version is not the one that the object read or saved last.
    private mutating func currentRow(of object: NSManagedObject) throws -> UnsafeRowView? {
        let row = try transaction.unsafeRow(reference(object.key))
        if object.rowVersion != 0, row?.version != object.rowVersion, try !isOnlyDerived(object, row) { conflicts.append(object) }
        return row
    }

    private mutating func prepareDeletion(of object: NSManagedObject) throws {
        _ = try currentRow(of: object)
        if try table(of: object).hasUniqueIndexes { claims.release(reference(object.key)) }
    }

    /// Whether an updated object's own row changes; it does not contain the members of to-many relationships.
    private func isWritten(_ object: NSManagedObject, _ table: EntityTable) -> Bool {
        guard let values = object.storage?.values, !values.isEmpty else { return false }
        return zip(values, table.positions).contains { $0.1 != nil && !$0.0.isUnset }
    }

    private func changesMembers(_ object: NSManagedObject) -> Bool {
        object.storage?.values.contains { if case .toMany(let state) = $0 { state.isChanged } else { false } } ?? false
    }

    /// Whether an updated object may get other unique values.
    private func changesUnique(_ values: [ManagedValue], _ table: EntityTable) -> Bool {
        table.uniqueProperties.contains { !values[$0].isUnset }
    }

    // MARK: Rows

    private mutating func writeInserted(_ object: NSManagedObject) throws {
        if !object.key.isTemporary, try transaction.unsafeRow(reference(object.key)) != nil { throw CoreDataError.presentObject(object.objectID) }
        try writeWhole(object, object.storage?.values ?? [], key: object.storage?.permanentKey ?? .none, table: table(of: object))
        // A reserved row already had a version.
        object.storage?.savedVersion = object.key.isTemporary ? 1 : try transaction.unsafeRow(reference(object.key))?.version ?? 0
    }

    private mutating func writeWhole(_ object: NSManagedObject, _ values: [ManagedValue], key: ObjectKey, table: EntityTable) throws {
        let values = try table.derivations == nil ? values : scope.completing(values, of: nil, in: table)
        builder.begin(table.layout)
        for (property, position) in table.positions.enumerated() {
            guard let position, property < values.count else { continue }
            try encode(values[property], at: position, of: object, property: property, table: table)
        }
        try put(object, key: key, table: table, isUniqueChanged: true)
    }

    private mutating func writeUpdated(_ object: NSManagedObject) throws {
        object.storage?.savedVersion = 0
        let table = try table(of: object)
        let row = try currentRow(of: object)
        let getsVersion = changesMembers(object) && versionsOwners()
        guard getsVersion || isWritten(object, table) || object.storage?.isRevived == true, conflicts.isEmpty else { return }
        var values = object.storage?.values ?? []
        guard let row else {
            guard object.storage?.isRevived == true else { throw CoreDataError.missingObject(object.objectID) }
            try writeWhole(object, values, key: object.key, table: table)
            object.storage?.savedVersion = try transaction.unsafeRow(reference(object.key))?.version ?? 0
            return
        }
        if table.derivations != nil { values = try scope.completing(values, of: row, in: table) }
        try builder.begin(table, revising: row)
        for property in values.indices where !values[property].isUnset {
            guard let position = table.positions[property] else { continue }
            if try isStored(values[property], of: object, table.runtime, property, in: row) { continue }
            try encode(values[property], at: position, of: object, property: property, table: table)
        }
        let isUniqueChanged = changesUnique(values, table)
        if isUniqueChanged { claims.release(reference(object.key)) }
        try put(object, key: object.key, table: table, replacing: row, isUniqueChanged: isUniqueChanged, getsVersion: getsVersion)
    }

    private mutating func encode(
        _ value: ManagedValue, at position: Int, of object: NSManagedObject, property: Int, table: EntityTable
    ) throws {
        switch value {
        case .reference(let key):
            guard !key.isNone else { return builder.setNull(position) }
            builder.set(position, reference: try stored(key, object, property))
        case .object:
            let kept = try value.transformed(property, of: object.entity, object)
            try transaction.encode(kept, into: builder, at: position, of: table.layout)
        default: try transaction.encode(value, into: builder, at: position, of: table.layout)
        }
    }

    /// Whether external data or a transformable was set to its stored value, which is then not written again: a new archive of an equal object may
    /// have other bytes, and the row would get a new version. Other values are cheaper to write than to compare.
    private func isStored(
        _ value: ManagedValue, of object: NSManagedObject, _ runtime: EntityRuntime, _ property: Int, in row: UnsafeRowView
    ) throws -> Bool {
        switch value {
        case .data(let data):
            guard let access = runtime.access(property, in: row), let stored = try transaction.value(access, of: row) else { return false }
            return try stored.isEqual(to: data)
        case .object:
            guard let access = runtime.access(property, in: row) else { return false }
            return object.isSame(
                value, ManagedValue(row: row, access: access, kind: runtime.properties[property].kind, slotBase: slotBase), property)
        default: return false
        }
    }

    /// The stored reference to a destination that this batch inserts or that was saved before.
    private func stored(_ key: ObjectKey, _ object: NSManagedObject, _ property: Int) throws -> RowReference {
        if key.isTemporary {
            if let permanent = batch.object(key)?.storage?.permanentKey, !permanent.isNone { return reference(permanent) }
        } else if schema.holds(key, slotBase: slotBase) {
            return reference(key)
        }
        throw CoreDataError.foreignDestination(of: object, property)
    }

    private mutating func put(
        _ object: NSManagedObject, key: ObjectKey, table: EntityTable, replacing old: UnsafeRowView? = nil, isUniqueChanged: Bool,
        getsVersion: Bool = false
    ) throws {
        let reference = reference(key)
        let body = builder.unsafeBody()
        if isUniqueChanged, table.hasUniqueIndexes, let start = body.baseAddress {
            claims.claim(UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: 0), of: object, table: table)
        }
        let version = old?.version
        if !getsVersion, let old, old.byteCount == body.count, memcmp(old.body, body.baseAddress!, body.count) == 0 { return }
        try transaction.put(reference, body: body, changing: builder.changed)
        hasWritten = true
        if let version { object.storage?.savedVersion = version &+ 1 }
    }
}

// MARK: Derived attributes

extension RecordLogSave {
    private var scope: DerivationScope {
        DerivationScope(transaction: transaction, schema: schema) { [batch, slotBase] key in
            let saved = key.isTemporary ? batch.object(key)?.storage?.permanentKey ?? .none : key
            return saved.isNone ? nil : RowReference(rawValue: saved.rawValue &- slotBase)
        }
    }

    /// Whether a row differs from the one that an object has read only in derived attributes.
    private func isOnlyDerived(_ object: NSManagedObject, _ row: UnsafeRowView?) throws -> Bool {
        let table = try table(of: object)
        guard let row, table.derivations != nil else { return false }
        if let read = object.boundRow { return table.isEqualButDerived(row, read) }
        return try transaction.base.unsafeRow(row.reference, version: object.rowVersion).map { table.isEqualButDerived(row, $0) } ?? false
    }

    /// Computes the derived attributes that the batch affects. The batch's objects get the resulting versions; other rows are listed in
    /// `batch.derived`.
    private mutating func derive(_ watches: DerivationWatches) throws {
        var derived = DerivedAttributes(watches, scope)
        let rewritten = try derived.run()
        guard !rewritten.isEmpty else { return }
        hasWritten = true
        var versions = Dictionary(uniqueKeysWithValues: rewritten.map { (ObjectKey(rawValue: $0.reference.rawValue &+ slotBase), $0) })
        for object in batch.inserted + batch.updated {
            let key = object.key.isTemporary ? object.storage?.permanentKey ?? .none : object.key
            if let row = versions.removeValue(forKey: key) { object.storage?.savedVersion = row.to }
        }
        batch.derived = versions.compactMap { key, row in row.from.map { SaveBatch.Derived(key: key, from: $0, to: row.to) } }
    }
}
