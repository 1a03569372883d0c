import Foundation
import RecordLog

/// Writes the pairs of to-many relationships that live in link tables.
struct RecordLogLinkSave {
    let transaction: Transaction
    let slotBase: UInt64
    let batch: SaveBatch
    /// Whether any pair was put or deleted.
    private(set) var hasWritten = false
    private let builder = RowBuilder()

    init(transaction: Transaction, slotBase: UInt64, batch: SaveBatch) {
        self.transaction = transaction
        self.slotBase = slotBase
        self.batch = batch
    }

    /// Writes what changed in the relationships whose pairs this object's side writes.
    mutating func write(_ object: NSManagedObject, table: EntityTable) throws {
        guard let values = object.storage?.values, !values.isEmpty else { return }
        for (property, source) in table.members.enumerated() {
            guard case .link(let link, isForward: true)? = source, case .toMany(let state) = values[property], state.isChanged
            else { continue }
            let owner = try reference(of: object)
            if link.isOrdered {
                var order = object.memberKeys(at: property)
                if !object.isInserted {
                    // Others may have added and removed members since this context read them.
                    let stored = try members(of: owner, link: link)
                    if stored != state.base {
                        state.rebase(stored)
                        order = state.members ?? order
                    }
                    try removeAll(of: owner, index: link.forward, link: link)
                }
                for (place, key) in order.enumerated() { try put(link, owner, try reference(of: key), order: place) }
            } else {
                for key in state.removed { try remove(owner, reference(of: key), link: link) }
                for key in state.added {
                    let member = try reference(of: key)
                    // Others may have added the same member; a pair stands in the table once.
                    if !object.isInserted, !key.isTemporary, try contains(owner, member, link: link) { continue }
                    try put(link, owner, member, order: nil)
                }
            }
        }
    }

    /// Removes every pair that a deleted object is part of, on either side.
    mutating func remove(_ object: NSManagedObject, table: EntityTable) throws {
        let owner = RowReference(rawValue: object.key.rawValue &- slotBase)
        for source in table.members {
            guard case .link(let link, let isForward)? = source else { continue }
            try removeAll(of: owner, index: isForward ? link.forward : link.backward, link: link)
        }
    }

    private func reference(of object: NSManagedObject) throws -> RowReference {
        let key = object.isInserted ? object.storage?.permanentKey ?? .none : object.key
        return RowReference(rawValue: key.rawValue &- slotBase)
    }

    private func reference(of key: ObjectKey) throws -> RowReference {
        guard key.isTemporary else { return RowReference(rawValue: key.rawValue &- slotBase) }
        guard let object = batch.object(key), let permanent = object.storage?.permanentKey, !permanent.isNone else {
            throw CoreDataError.make(
                NSManagedObjectReferentialIntegrityError, "A relationship holds an object that is not part of the save.")
        }
        return RowReference(rawValue: permanent.rawValue &- slotBase)
    }

    private mutating func put(_ link: LinkTable, _ source: RowReference, _ destination: RowReference, order: Int?) throws {
        builder.begin(link.layout)
        builder.set(LinkTable.sourcePosition, reference: source)
        builder.set(LinkTable.destinationPosition, reference: destination)
        if let order { builder.set(LinkTable.orderPosition, int64: Int64(order)) }
        let row = try transaction.newRow(in: link.id)
        try transaction.put(RowReference(table: link.id, row: row), body: builder.finish())
        hasWritten = true
    }

    private func members(of owner: RowReference, link: LinkTable) throws -> [ObjectKey] {
        var result: [ObjectKey] = []
        var cursor = try transaction.base.cursor(link.forward, RecordLogView.range(of: owner))
        while try cursor.next() != nil {
            guard let member = RecordLogView.lastReference(of: cursor.key) else { continue }
            result.append(ObjectKey(rawValue: member.rawValue &+ slotBase))
        }
        return result
    }

    private func contains(_ source: RowReference, _ destination: RowReference, link: LinkTable) throws -> Bool {
        let key = KeyBuilder()
        key.append(reference: source)
        key.append(reference: destination)
        var cursor = try transaction.base.cursor(link.forward, .prefix(key.bytes))
        return try cursor.next() != nil
    }

    private mutating func remove(_ source: RowReference, _ destination: RowReference, link: LinkTable) throws {
        let key = KeyBuilder()
        key.append(reference: source)
        key.append(reference: destination)
        var cursor = try transaction.base.cursor(link.forward, .prefix(key.bytes))
        while let row = try cursor.next() {
            if try transaction.delete(RowReference(table: link.id, row: row)) { hasWritten = true }
        }
    }

    private mutating func removeAll(of owner: RowReference, index: IndexID, link: LinkTable) throws {
        var cursor = try transaction.base.cursor(index, RecordLogView.range(of: owner))
        while let row = try cursor.next() {
            if try transaction.delete(RowReference(table: link.id, row: row)) { hasWritten = true }
        }
    }
}
