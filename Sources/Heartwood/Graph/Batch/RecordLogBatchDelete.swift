import Foundation
import RecordLog

/// Deletes rows and applies the delete rules of their relationships.
///
/// The first pass marks every row to delete, because deny and nullify do not apply to a destination that is deleted too. The second pass
/// deletes the rows in the order of their tables. Relationships are read as they were before the request.
struct RecordLogBatchDelete {
    private let batch: RecordLogBatch
    private var doomed = RowSet()
    /// The marked rows that the request targets: only these are counted.
    private var asked = RowSet()
    /// Rows that a cascade has marked and whose own cascades have not been followed yet.
    private var pending: [RowReference] = []

    init(_ batch: RecordLogBatch) {
        self.batch = batch
    }

    mutating func run(_ target: BatchTarget) throws {
        var pass = self
        try batch.forEachRow(of: target) { row, table in
            _ = pass.asked.insert(row.reference)
            guard pass.doomed.insert(row.reference) else { return }
            try pass.followCascades(row, table)
        }
        self = pass
        try doomed.forEach { reference in
            try batch.unretainedTable(of: reference)._withUnsafeGuaranteedRef { try remove(reference, $0) }
        }
    }

    // MARK: Marking

    private mutating func followCascades(_ row: UnsafeRowView, _ table: EntityTable) throws {
        try markDestinations(of: row, table)
        while let next = pending.popLast() {
            guard let row = try batch.transaction.base.unsafeRow(next) else { continue }
            try markDestinations(of: row, try batch.table(of: next))
        }
    }

    private mutating func markDestinations(of row: UnsafeRowView, _ table: EntityTable) throws {
        for index in table.cascades {
            var found: [RowReference] = []
            try forEachDestination(of: row, table, index) { found.append($0) }
            for destination in found where try batch.transaction.base.contains(destination) {
                if doomed.insert(destination) { pending.append(destination) }
            }
        }
    }

    private func forEachDestination(
        of row: UnsafeRowView, _ table: EntityTable, _ index: Int, _ body: (RowReference) throws -> Void
    ) throws {
        if let source = table.members[index] {
            try batch.view.forEachMember(of: row.reference, in: source) { member in
                try body(member)
                return true
            }
        } else if let destination = table.destination(of: row, index) {
            try body(destination)
        }
    }

    // MARK: Deleting

    private func remove(_ reference: RowReference, _ table: EntityTable) throws {
        if !table.removals.isEmpty, let row = try batch.transaction.base.unsafeRow(reference) {
            for removal in table.removals { try unlink(row, table, removal) }
        }
        if table.hasLinks {
            for source in table.members {
                guard case .link(let link, let isForward)? = source else { continue }
                try removeLinks(of: reference, isForward ? link.forward : link.backward, link)
            }
            for link in table.inbound { try removeLinks(of: reference, link.backward, link) }
        }
        if try batch.delete(reference) { batch.note(reference, isCounted: asked.contains(reference)) }
    }

    private func unlink(_ row: UnsafeRowView, _ table: EntityTable, _ removal: EntityTable.Removal) throws {
        try forEachDestination(of: row, table, removal.property) { destination in
            guard !doomed.contains(destination) else { return }
            if let inverse = removal.inverse { return try unlink(destination, inverse, from: row.reference) }
            guard try batch.transaction.base.contains(destination) else { return }
            throw BatchDeletionError.denied(batch.view.key(row.reference), table, removal.property)
        }
    }

    private func removeLinks(of owner: RowReference, _ index: IndexID, _ link: JoinTable) throws {
        var cursor = try batch.transaction.base.cursor(index, RecordLogView.range(of: owner))
        while let row = try cursor.next() { try batch.delete(RowReference(table: link.id, row: row)) }
    }

    /// Clears the other side of a relationship. Where that side is stored as link rows, deletes the link row.
    private func unlink(_ reference: RowReference, _ index: Int, from owner: RowReference) throws {
        let table = try batch.table(of: reference)
        guard index < table.members.count else { return }
        switch table.members[index] {
        case .inverse?: return
        case .link(let link, let isForward)?:
            let (source, destination) = isForward ? (reference, owner) : (owner, reference)
            if let pair = try link.row(from: source, to: destination, batch.transaction.base) { try batch.delete(pair) }
        case nil:
            guard let row = try batch.transaction.unsafeRow(reference), table.destination(of: row, index) == owner else { return }
            guard table.runtime.entity.propertiesByIndex[index].isOptional else { throw BatchDeletionError.required(batch.view.key(reference), table, index) }
            var values = [ManagedValue](repeating: .unset, count: table.runtime.properties.count)
            values[index] = .null
            try batch.put(reference, try batch.rebuild(row, values, table))
        }
    }
}

extension EntityTable {
    /// The row's to-one destination; nil for null and for properties of other kinds.
    fileprivate func destination(of row: UnsafeRowView, _ property: Int) -> RowReference? {
        guard let access = runtime.access(property, in: row) else { return nil }
        let reference = row.reference(access)
        return reference.isNone ? nil : reference
    }
}
