import Foundation
import RecordLog

/// Writes the pairs of to-many relationships that are stored in join tables: those that are new, removed, or moved in an order.
///
/// The forward side decides which pairs exist. If both sides are ordered a pair has two positions; they are gathered from both sides and written at
/// the end.
struct RecordLogLinkSave {
    let transaction: Transaction
    let slotBase: UInt64
    let batch: SaveBatch
    /// Whether any pair was put or deleted.
    private(set) var hasWritten = false
    private let builder = RowBuilder()
    private var gathered: [(link: JoinTable, pair: Pair)] = []
    private var positions: [Pair: Positions] = [:]

    private struct Pair: Hashable {
        let link: TableID
        let source, destination: RowReference
    }

    private struct Positions {
        var forward: Int64?
        var inverse: Int64?
    }

    init(transaction: Transaction, slotBase: UInt64, batch: SaveBatch) {
        self.transaction = transaction
        self.slotBase = slotBase
        self.batch = batch
    }

    /// Writes the changes of an object's relationships.
    mutating func write(_ object: NSManagedObject, table: EntityTable) throws {
        guard let values = object.storage?.values, !values.isEmpty else { return }
        for (property, source) in table.members.enumerated() {
            guard case .link(let link, let isForward)? = source, case .toMany(let state) = values[property], state.isChanged
            else { continue }
            guard isForward || link.inverse != nil else { continue }
            let owner = try reference(of: object)
            let members = try link.isOrdered
                ? orderedChanges(of: state, owner, isInserted: object.isInserted, link, isForward: isForward)
                : state.added.map { ($0, 0) }
            if isForward {
                for key in state.removed where !key.isTemporary { try remove(owner, reference(of: key), link: link) }
            }
            for (key, position) in members {
                let member = try reference(of: key)
                if link.inverse != nil {
                    let (source, destination) = isForward ? (owner, member) : (member, owner)
                    gather(link, Pair(link: link.id, source: source, destination: destination), position, isForward: isForward)
                } else {
                    try put(link, owner, member, position, isNewOwner: object.isInserted, isNewMember: key.isTemporary)
                }
            }
        }
    }

    /// The members that are new or moved, with their positions.
    private func orderedChanges(
        of state: ToManyState, _ owner: RowReference, isInserted: Bool, _ link: JoinTable, isForward: Bool
    ) throws -> [(ObjectKey, Int64)] {
        if state.order == nil, let appended = try appended(state, owner, isInserted: isInserted, link, isForward: isForward) {
            return appended
        }
        let stored = isInserted ? [] : try link.positions(of: owner, isForward: isForward, transaction.base)
        // Others may have added and removed members since this context read them.
        state.rebase(stored.map { ObjectKey(rawValue: $0.member.rawValue &+ slotBase) })
        var known: [RowReference: Int64] = [:]
        for entry in stored { known[entry.member] = entry.position }
        let members = state.members ?? []
        return LinkOrder.changes(try members.map { known[try reference(of: $0)] }).map { (members[$0.index], $0.position) }
    }

    /// If no member moved, new members follow the last one, and only that is looked up.
    /// - Returns: nil if there is no position after it.
    private func appended(
        _ state: ToManyState, _ owner: RowReference, isInserted: Bool, _ link: JoinTable, isForward: Bool
    ) throws -> [(ObjectKey, Int64)]? {
        guard !state.added.isEmpty else { return [] }
        var last = isInserted ? nil : try link.lastPosition(of: owner, isForward: isForward, transaction.base)
        var result: [(ObjectKey, Int64)] = []
        for key in state.added {
            if !isInserted, !key.isTemporary {
                let member = try reference(of: key)
                if try row(link, isForward ? owner : member, isForward ? member : owner) != nil { continue }
            }
            guard let position = LinkOrder.position(after: last) else { return nil }
            result.append((key, position))
            last = position
        }
        return result
    }

    private mutating func gather(_ link: JoinTable, _ pair: Pair, _ position: Int64, isForward: Bool) {
        if positions[pair] == nil { gathered.append((link, pair)) }
        if isForward { positions[pair, default: Positions()].forward = position } else { positions[pair, default: Positions()].inverse = position }
    }

    /// Writes the pairs with two positions, after every object has given its own.
    mutating func finish() throws {
        for (link, pair) in gathered {
            guard let positions = positions[pair] else { continue }
            if let row = try row(link, pair.source, pair.destination) {
                guard let old = try transaction.unsafeRow(row) else { continue }
                let forward = positions.forward ?? old.int64(link.layout.access[JoinTable.orderPosition])
                let inverse = positions.inverse ?? old.int64(link.layout.access[JoinTable.inverseOrderPosition])
                try write(link, pair, row, forward, inverse)
            } else if let forward = positions.forward {
                // If the other side did not change here, the member comes last there.
                let last = try link.lastPosition(of: pair.destination, isForward: false, transaction.base)
                let row = RowReference(table: link.id, row: try transaction.newRow(in: link.id))
                try write(link, pair, row, forward, positions.inverse ?? LinkOrder.position(after: last) ?? .max)
            }
        }
        gathered = []
        positions = [:]
    }

    private mutating func write(_ link: JoinTable, _ pair: Pair, _ row: RowReference, _ forward: Int64, _ inverse: Int64) throws {
        builder.begin(link.layout)
        builder.set(JoinTable.sourcePosition, reference: pair.source)
        builder.set(JoinTable.destinationPosition, reference: pair.destination)
        builder.set(JoinTable.orderPosition, int64: forward)
        builder.set(JoinTable.inverseOrderPosition, int64: inverse)
        try transaction.put(row, body: builder.unsafeBody())
        hasWritten = true
    }

    /// Removes every pair that a deleted object belongs to, on either side.
    mutating func remove(_ object: NSManagedObject, table: EntityTable) throws {
        let owner = RowReference(rawValue: object.key.rawValue &- slotBase)
        for source in table.members {
            guard case .link(let link, let isForward)? = source else { continue }
            try removeAll(of: owner, index: isForward ? link.forward : link.backward, link: link)
        }
        for link in table.inbound { try removeAll(of: owner, index: link.backward, link: link) }
    }

    private func reference(of object: NSManagedObject) throws -> RowReference {
        // An object that was deleted, saved and brought back counts as inserted and already has its key.
        let key = object.key.isTemporary ? object.storage?.permanentKey ?? .none : object.key
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

    /// The stored row of a pair. Others may have added it meanwhile, and a pair has only one row in the table.
    private func row(_ link: JoinTable, _ source: RowReference, _ destination: RowReference) throws -> RowReference? {
        guard let row = try link.row(from: source, to: destination, transaction.base) else { return nil }
        return try transaction.unsafeRow(row) == nil ? nil : row
    }

    private mutating func put(
        _ link: JoinTable, _ source: RowReference, _ destination: RowReference, _ position: Int64, isNewOwner: Bool, isNewMember: Bool
    ) throws {
        let known = isNewOwner || isNewMember ? nil : try row(link, source, destination)
        if known != nil, !link.isOrdered { return }
        if link.isExclusive, !isNewMember { try removeAll(of: destination, index: link.backward, link: link, but: known) }
        builder.begin(link.layout)
        builder.set(JoinTable.sourcePosition, reference: source)
        builder.set(JoinTable.destinationPosition, reference: destination)
        if link.isOrdered { builder.set(JoinTable.orderPosition, int64: position) }
        let row = try known ?? RowReference(table: link.id, row: transaction.newRow(in: link.id))
        try transaction.put(row, body: builder.unsafeBody())
        hasWritten = true
    }

    private mutating func remove(_ source: RowReference, _ destination: RowReference, link: JoinTable) throws {
        guard let row = try link.row(from: source, to: destination, transaction.base) else { return }
        if try transaction.delete(row) { hasWritten = true }
    }

    private mutating func removeAll(of owner: RowReference, index: IndexID, link: JoinTable, but kept: RowReference? = nil) throws {
        var cursor = try transaction.base.cursor(index, RecordLogView.range(of: owner))
        while let row = try cursor.next() {
            let reference = RowReference(table: link.id, row: row)
            if reference != kept, try transaction.delete(reference) { hasWritten = true }
        }
    }
}
