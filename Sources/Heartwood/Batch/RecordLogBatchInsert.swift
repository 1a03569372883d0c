import Foundation
import RecordLog

/// Inserts rows, up to the end or as many as a commit is to have.
struct RecordLogBatchInsert {
    private let batch: RecordLogBatch
    private let insertion: BatchInsertion
    private let table: EntityTable
    private let uniqueness: BatchUniqueness?
    /// Rows of the store that this transaction has counted as updated.
    private var updated: Set<RowReference> = []

    init(_ batch: RecordLogBatch, _ insertion: BatchInsertion) throws {
        self.batch = batch
        self.insertion = insertion
        table = try batch.table(of: insertion.runtime)
        uniqueness = table.hasUniqueIndexes ? BatchUniqueness(batch) : nil
    }

    mutating func run() throws {
        var left = insertion.rowsPerCommit == 0 ? Int.max : insertion.rowsPerCommit
        while left > 0, try insertion.rows.next() {
            try insert()
            left -= 1
        }
    }

    private mutating func insert() throws {
        let body = try batch.build(insertion.rows.values, table)
        if let uniqueness, let conflict = try uniqueness.conflict(of: view(body, RowReference(rawValue: 0)), table) {
            return try resolve(conflict.index, conflict.holder)
        }
        let reference = RowReference(table: table.id, row: try batch.transaction.newRow(in: table.id))
        try batch.put(reference, body)
        uniqueness?.noteInserted(reference)
        batch.note(reference)
    }

    private func view(_ body: UnsafeRawBufferPointer, _ reference: RowReference) -> RowView {
        guard let start = body.baseAddress else { preconditionFailure("a row has a layout") }
        return RowView(body: start, byteCount: body.count, reference: reference, version: 0)
    }

    /// A row has unique values already.
    private mutating func resolve(_ index: TableIndex, _ holder: RowReference) throws {
        switch insertion.policy {
        case .errorMergePolicyType: throw violation(index, holder)
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return
        case .mergeByPropertyObjectTrumpMergePolicyType: try update(holder, insertion.rows.named)
        case .overwriteMergePolicyType:
            let attributes = table.runtime.properties.indices.filter { !table.runtime.properties[$0].kind.isRelationship }
            try update(holder, Set(attributes).union(insertion.rows.named))
        }
    }

    private func violation(_ index: TableIndex, _ holder: RowReference) -> BatchConstraintViolation {
        BatchConstraintViolation(table.names(of: index), holder: batch.view.key(holder))
    }

    /// Sets properties of the row that has the unique values. It may be of another entity of the family.
    private mutating func update(_ reference: RowReference, _ properties: some Sequence<Int>) throws {
        let owner = try batch.table(of: reference)
        guard let uniqueness, let row = try batch.transaction.row(reference) else { return }
        var values = [ManagedValue](repeating: .unset, count: owner.runtime.properties.count)
        for property in properties {
            let own = table.runtime.properties[property]
            guard let index = owner.runtime.index(of: own.name), owner.runtime.properties[index].kind == own.kind else { continue }
            values[index] = insertion.rows.values[property]
        }
        let body = try batch.rebuild(row, values, owner)
        // What it takes over may be unique in another way.
        if let conflict = try uniqueness.conflict(of: view(body, reference), owner) { throw violation(conflict.index, conflict.holder) }
        guard let current = try batch.transaction.row(reference) else { return }
        let isNew = try !batch.transaction.base.contains(reference)
        try batch.put(body, replacing: current)
        uniqueness.note(view(body, reference), owner, isNew: isNew)
        if !isNew, updated.insert(reference).inserted { batch.note(reference) }
    }
}
