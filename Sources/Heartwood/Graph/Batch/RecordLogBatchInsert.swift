import Foundation
import RecordLog

/// Inserts rows into one transaction, up to the last row or the number of rows for one commit.
final class RecordLogBatchInsert {
    private let batch: RecordLogBatch
    private let insertion: BatchInsertion
    private let rows: BatchRows
    private let table: EntityTable
    private let uniqueness: BatchUniqueness?
    /// The properties that need a value in each row.
    private let required: [Int]

    init(_ batch: RecordLogBatch, _ insertion: BatchInsertion) throws {
        self.batch = batch
        self.insertion = insertion
        rows = insertion.rows
        table = try batch.table(of: insertion.runtime)
        uniqueness = table.hasUniqueIndexes ? BatchUniqueness(batch) : nil
        let table = table
        required = table.runtime.properties.indices.filter { index in
            let property = table.runtime.entity.propertiesByIndex[index]
            return property is NSAttributeDescription && !(property is NSDerivedAttributeDescription) && !property.isOptional
                && table.positions[index] != nil
        }
    }

    /// Builds the row that was read last.
    /// - Throws: 1570 if a required value is missing.
    private func build() throws -> UnsafeRawBufferPointer {
        try demandRequired()
        return try batch.build(rows.values, table)
    }

    private func demandRequired() throws {
        for index in required where rows.values[index].isUnset || rows.values[index].isNull {
            throw BatchValues.missing(table.runtime.properties[index].name, of: table.runtime.entity)
        }
    }

    func run() throws {
        var left = insertion.rowsPerCommit == 0 ? Int.max : insertion.rowsPerCommit
        guard let uniqueness else {
            while left > 0, try rows.next() {
                try put(build())
                left -= 1
            }
            return
        }
        guard insertion.policy != .errorMergePolicyType else { return try runInGroups(left, uniqueness) }
        while left > 0, try rows.next() {
            // A conflict is resolved with the values of the current row, so rows cannot be grouped.
            try insert(uniqueness)
            left -= 1
        }
    }

    private func runInGroups(_ rowCount: Int, _ uniqueness: BatchUniqueness) throws {
        var left = rowCount, isAtEnd = false
        var rowBatch = RowBatch()
        while left > 0, !isAtEnd {
            rowBatch.removeAll()
            var failure: (any Error)?
            do {
                while rowBatch.count < min(left, RowBatch.size), !isAtEnd {
                    guard try rows.next() else {
                        isAtEnd = true
                        break
                    }
                    let body = try build()
                    rowBatch.append(body) { uniqueness.addHashes(of: view(body), table, to: &$0) }
                }
            } catch {
                failure = error
            }
            // The rows before the failed one are written first: one of them may violate a constraint, and that error takes precedence.
            try write(rowBatch, uniqueness)
            if let failure { throw failure }
            left -= rowBatch.count
            if batch.transaction.hasSpilled, !uniqueness.isLeftToTheEnd { uniqueness.leaveToTheEnd() }
        }
        if uniqueness.isLeftToTheEnd, let conflict = try uniqueness.firstConflictAmongAdded(table) {
            throw violation(conflict.index, conflict.holder)
        }
    }

    private func write(_ rowBatch: RowBatch, _ uniqueness: BatchUniqueness) throws {
        let hashes = rowBatch.hashes
        uniqueness.prepare(hashes)
        try rowBatch.forEach { body, own in
            if uniqueness.mayHold(hashes, own, table), let conflict = try uniqueness.conflict(of: view(body), table) {
                throw violation(conflict.index, conflict.holder)
            }
            uniqueness.note(hashes, own, try put(body))
        }
    }

    private func insert(_ uniqueness: BatchUniqueness) throws {
        let body = try batch.build(rows.values, table)
        if let conflict = try uniqueness.conflict(of: view(body), table) { return try resolve(conflict.index, conflict.holder) }
        try demandRequired()
        uniqueness.noteWritten(try put(body))
    }

    /// Inserts a row.
    @discardableResult
    private func put(_ body: UnsafeRawBufferPointer) throws -> RowReference {
        let reference = RowReference(table: table.id, row: try batch.transaction.newRow(in: table.id))
        try batch.put(reference, body)
        insertion.counted.make(reference)
        batch.note(reference)
        return reference
    }

    private func view(_ body: UnsafeRawBufferPointer) -> UnsafeRowView { view(body, RowReference(rawValue: 0)) }

    private func view(_ body: UnsafeRawBufferPointer, _ reference: RowReference) -> UnsafeRowView {
        guard let start = body.baseAddress else { preconditionFailure("a row has a layout") }
        return UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: 0)
    }

    /// Applies the merge policy, because the row `holder` already has the unique values.
    private func resolve(_ index: TableIndex, _ holder: RowReference) throws {
        switch insertion.policy {
        case .errorMergePolicyType: throw violation(index, holder)
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return
        case .mergeByPropertyObjectTrumpMergePolicyType: try update(holder, rows.named)
        case .overwriteMergePolicyType:
            let attributes = table.runtime.properties.indices.filter { !table.runtime.properties[$0].kind.isRelationship }
            try update(holder, Set(attributes).union(rows.named))
        }
    }

    private func violation(_ index: TableIndex, _ holder: RowReference) -> BatchConstraintViolation {
        BatchConstraintViolation(table.names(of: index), holder: batch.view.key(holder))
    }

    /// Sets properties of the row that has the unique values. That row may be of another entity of the family.
    private func update(_ reference: RowReference, _ properties: some Sequence<Int>) throws {
        let owner = try batch.table(of: reference)
        guard let uniqueness, let row = try batch.transaction.unsafeRow(reference) else { return }
        var values = [ManagedValue](repeating: .unset, count: owner.runtime.properties.count)
        for property in properties {
            let own = table.runtime.properties[property]
            guard let index = owner.runtime.index(of: own.name), owner.runtime.properties[index].kind == own.kind else { continue }
            values[index] = rows.values[property]
        }
        let body = try batch.rebuild(row, values, owner)
        // The new values may violate another constraint.
        if let conflict = try uniqueness.conflict(of: view(body, reference), owner) { throw violation(conflict.index, conflict.holder) }
        guard let current = try batch.transaction.unsafeRow(reference) else { return }
        let isNew = try !batch.transaction.base.contains(reference)
        try batch.put(body, replacing: current)
        uniqueness.note(view(body, reference), owner, isNew: isNew)
        if insertion.counted.update(reference) { batch.note(reference) }
    }
}
