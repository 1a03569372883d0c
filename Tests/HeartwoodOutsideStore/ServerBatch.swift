import Foundation
import Heartwood
import RecordLog

extension ServerStore: BatchStore {
    /// Executes a batch in one transaction, or in several if an insertion asks for that.
    package func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome {
        let binding = try knownState().0
        var outcome = outcome
        func run(_ body: (inout ServerBatch) throws -> Void) throws {
            try write { state in
                let base = state
                var part = ServerBatch(binding, state, ServerView(self, binding, state, RowCopies()), outcome)
                try body(&part)
                state = part.state
                state.record(part.changes, origin, since: base, binding)
                outcome = part.outcome
                return !part.changes.list.isEmpty
            }
        }
        switch batch {
        case .insert(let insertion): while !insertion.rows.isAtEnd { try run { try $0.insert(insertion) } }
        case .update(let update): try run { try $0.update(update) }
        case .delete(let target): try run { try $0.delete(target) }
        }
        return outcome
    }
}

/// One transaction of a batch request.
struct ServerBatch {
    private let binding: ServerBinding
    private(set) var state: DatabaseState
    /// The state before the request.
    private let base: ServerView
    private(set) var outcome: BatchOutcome
    private(set) var changes = ServerChanges()

    init(_ binding: ServerBinding, _ state: DatabaseState, _ base: ServerView, _ outcome: BatchOutcome) {
        (self.binding, self.state, self.base, self.outcome) = (binding, state, base, outcome)
    }

    /// Calls `body` with each row that the request targets, as it was before the request.
    private func forEachRow(of target: BatchTarget, _ body: (UnsafeRowView, EntityTable) throws -> Void) throws {
        switch target {
        case .query(let query):
            let statistics = try base.execute(query) { row in
                if let table = binding.schema.table(row.reference.table) { try body(row, table) }
                return true
            }
            guard statistics != nil else { throw UnansweredQuery() }
        case .keys(let keys):
            for key in keys {
                guard let table = binding.schema.table(of: key, slotBase: binding.slotBase), let row = base.row(key.row, of: table) else { continue }
                try body(row, table)
            }
        }
    }

    private func reference(_ row: UnsafeRowView, _ table: EntityTable) -> ServerReference {
        ServerReference(table: binding.table(of: table).index, number: row.reference.row)
    }

    private func key(_ reference: ServerReference) -> ObjectKey { binding.key(reference) ?? ObjectKey(rawValue: 0) }

    /// Sets columns of a row to values by property index; `unset` keeps a column's value.
    private func applying(_ values: [ManagedValue], to old: [ServerValue?], _ table: EntityTable) throws -> [ServerValue?] {
        var new = old
        for (property, column) in binding.table(of: table).columns.enumerated() {
            guard let column, property < values.count else { continue }
            if case .unset = values[property] { continue }
            new[column] = binding.stored(try values[property].transformed(property, of: table.runtime.entity))
        }
        return new
    }

    private static func areSame(_ a: [ServerValue?], _ b: [ServerValue?]) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { one, other in
            if let one, let other { one.isSame(as: other) } else { one == nil && other == nil }
        }
    }

    /// The constraint that values would violate, and the row that has them.
    private func conflict(
        _ values: [ServerValue?], in table: Int, but own: ServerReference? = nil
    ) -> (constraint: ServerConstraint, holder: ServerReference)? {
        for constraint in state.constraints {
            guard let key = constraint.key(of: values, in: table) else { continue }
            let holders = constraint.holders(of: key).filter { $0 != own }
            if let holder = holders.min(by: { ($0.table, $0.number) < ($1.table, $1.number) }) { return (constraint, holder) }
        }
        return nil
    }

    private func violation(_ conflict: (constraint: ServerConstraint, holder: ServerReference)) -> BatchConstraintViolation {
        BatchConstraintViolation(conflict.constraint.attributes, holder: key(conflict.holder))
    }

    // MARK: Inserting

    /// Inserts rows up to the last one, or to the number of rows for one commit.
    mutating func insert(_ insertion: BatchInsertion) throws {
        let table = try binding.schema.table(of: insertion.runtime, slotBase: binding.slotBase), bound = binding.table(of: table)
        let none = [ServerValue?](repeating: nil, count: state.tables[bound.index].columns.count)
        var left = insertion.rowsPerCommit == 0 ? Int.max : insertion.rowsPerCommit
        while left > 0, try insertion.rows.next() {
            left -= 1
            let values = try applying(insertion.rows.values, to: none, table)
            if insertion.policy == .errorMergePolicyType { try demandRequired(values, table) }
            if let conflict = conflict(values, in: bound.index) {
                try resolve(conflict, insertion, table)
                continue
            }
            try demandRequired(values, table)
            let reference = ServerReference(table: bound.index, number: state.tables[bound.index].newNumber())
            state.put(reference, values, version: 1)
            changes.note(.insert, reference)
            insertion.counted.make(RowReference(table: table.id, row: reference.number))
            outcome.add(key(reference))
        }
    }

    private func demandRequired(_ values: [ServerValue?], _ table: EntityTable) throws {
        for (property, column) in binding.table(of: table).columns.enumerated() {
            let description = table.runtime.entity.propertiesByIndex[property]
            guard description is NSAttributeDescription, !description.isOptional, let column, values[column] == nil else { continue }
            throw BatchValues.missing(description.name, of: table.runtime.entity)
        }
    }

    /// Applies the merge policy to a row whose unique values another row has. That may be of another entity of the family.
    private mutating func resolve(
        _ conflict: (constraint: ServerConstraint, holder: ServerReference), _ insertion: BatchInsertion, _ table: EntityTable
    ) throws {
        var properties = insertion.rows.named
        switch insertion.policy {
        case .errorMergePolicyType: throw violation(conflict)
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return
        case .mergeByPropertyObjectTrumpMergePolicyType: break
        case .overwriteMergePolicyType:
            let attributes = table.runtime.properties.indices.filter { table.runtime.entity.propertiesByIndex[$0] is NSAttributeDescription }
            properties = Array(Set(attributes).union(properties))
        }
        guard let owner = binding.entityTable(conflict.holder), let row = state.row(conflict.holder) else { return }
        var values = [ManagedValue](repeating: .unset, count: owner.runtime.properties.count)
        for property in properties {
            let own = table.runtime.properties[property]
            guard let index = owner.runtime.index(of: own.name), owner.runtime.properties[index].kind == own.kind else { continue }
            values[index] = insertion.rows.values[property]
        }
        let new = try applying(values, to: row.values, owner)
        // The new values may violate another constraint.
        if let other = self.conflict(new, in: conflict.holder.table, but: conflict.holder) { throw violation(other) }
        put(conflict.holder, new, over: row, updated: [])
        let counted = RowReference(table: owner.id, row: conflict.holder.number)
        if insertion.counted.update(counted) { outcome.add(key(conflict.holder)) }
    }

    private mutating func put(_ reference: ServerReference, _ values: [ServerValue?], over row: ServerRow, updated: Set<String>) {
        guard !Self.areSame(values, row.values) else { return }
        let columns = state.tables[reference.table].columns
        let changed = columns.indices.filter { !Self.areSame([values[$0]], [row.values[$0]]) }.map { columns[$0] }
        state.put(reference, values, version: row.version &+ 1)
        changes.note(.update, reference, updated: updated.union(changed))
    }

    // MARK: Updating

    mutating func update(_ update: BatchUpdate) throws {
        var plans = try BatchUpdatePlans(update, binding.schema, slotBase: binding.slotBase)
        let scope = QueryScope(view: nil), assigned = Set(update.values.map(\.name))
        var written: [(reference: ServerReference, values: [ServerValue?])] = []
        try forEachRow(of: update.target) { row, table in
            let values = try plans.values(of: row, table, scope), reference = reference(row, table)
            guard let old = state.row(reference) else { return }
            written.append((reference, try applying(values, to: old.values, table)))
        }
        for (reference, values) in written {
            if let old = state.row(reference) { put(reference, values, over: old, updated: assigned) }
            outcome.add(key(reference))
        }
        // Rows may exchange unique values, so conflicts are sought at the end.
        for (reference, values) in written {
            if let conflict = conflict(values, in: reference.table, but: reference) { throw violation(conflict) }
        }
    }

    // MARK: Deleting

    /// Deletes rows and applies the delete rules of their relationships, which are read as they were before the request.
    mutating func delete(_ target: BatchTarget) throws {
        var asked: Set<ObjectKey> = [], pending: [ObjectKey] = [], doomed: Set<ObjectKey> = []
        try forEachRow(of: target) { row, table in
            let key = ObjectKey(slot: table.runtime.slot, row: row.reference.row)
            if asked.insert(key).inserted { pending.append(key) }
        }
        doomed = asked
        while let next = pending.popLast() {
            guard let table = binding.schema.table(of: next, slotBase: binding.slotBase) else { continue }
            for property in table.cascades {
                for destination in try destinations(of: next, table, property) where try base.row(destination) != nil {
                    if doomed.insert(destination).inserted { pending.append(destination) }
                }
            }
        }
        for key in doomed.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let table = binding.schema.table(of: key, slotBase: binding.slotBase), let reference = binding.reference(key) else { continue }
            for removal in table.removals {
                for destination in try destinations(of: key, table, removal.property) where !doomed.contains(destination) {
                    try unlink(destination, from: key, reference, table, removal)
                }
            }
            guard let row = state.row(reference) else { continue }
            changes.note(.delete, reference, kept: binding.kept(row, of: table))
            state.delete(reference)
            outcome.add(key, isCounted: asked.contains(key))
        }
    }

    private func destinations(of key: ObjectKey, _ table: EntityTable, _ property: Int) throws -> [ObjectKey] {
        if table.members[property] != nil { return try base.members(of: key, runtime: table.runtime, property: property) }
        guard let reference = binding.reference(key), let column = binding.table(of: table).columns[property],
            case .reference(let destination)? = base.state.row(reference)?.values[column]
        else { return [] }
        return binding.key(destination).map { [$0] } ?? []
    }

    /// Clears the other side of a relationship, if that is a column of its own. Pairs go with the row.
    private mutating func unlink(
        _ destination: ObjectKey, from key: ObjectKey, _ owner: ServerReference, _ table: EntityTable, _ removal: EntityTable.Removal
    ) throws {
        guard let reference = binding.reference(destination), let row = state.row(reference) else { return }
        guard let inverse = removal.inverse else { throw BatchDeletionError.denied(key, table, removal.property) }
        guard let other = binding.entityTable(reference), let column = binding.table(of: other).columns[inverse],
            row.values[column] == .reference(owner)
        else { return }
        guard other.runtime.entity.propertiesByIndex[inverse].isOptional else { throw BatchDeletionError.required(destination, other, inverse) }
        var values = row.values
        values[column] = nil
        put(reference, values, over: row, updated: [])
    }
}
