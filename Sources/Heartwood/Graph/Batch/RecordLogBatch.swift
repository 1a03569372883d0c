import Foundation
import RecordLog

/// One transaction of a record log, with the operations on rows that all batch requests share.
final class RecordLogBatch {
    let transaction: Transaction
    let schema: RecordLogSchema
    let slotBase: UInt64
    /// The store's state before the request. Its rows do not change while the transaction goes on.
    let view: RecordLogView
    let builder = RowBuilder()
    @exclusivity(unchecked) private(set) var hasWritten = false
    @exclusivity(unchecked) private(set) var outcome: BatchOutcome

    init(_ transaction: Transaction, of log: LogStore, schema: RecordLogSchema, slotBase: UInt64, outcome: BatchOutcome) {
        self.transaction = transaction
        self.schema = schema
        self.slotBase = slotBase
        self.outcome = outcome
        view = RecordLogView(snapshot: transaction.base, of: log, schema: schema, slotBase: slotBase)
    }

    /// - Throws: if the store's file was replaced after the request was prepared.
    func table(of runtime: EntityRuntime) throws -> EntityTable { try schema.table(of: runtime, slotBase: slotBase) }

    func table(of reference: RowReference) throws -> EntityTable { try unretainedTable(of: reference).takeUnretainedValue() }

    /// Unretained, because the schema holds the table.
    @inline(__always)
    func unretainedTable(of reference: RowReference) throws -> Unmanaged<EntityTable> {
        if let table = schema.unretainedTable(reference.table) { return table }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "A relationship leads to the table \(reference.table.rawValue), which is no entity's.")
    }

    /// Records a row among the rows that the request affects.
    func note(_ reference: RowReference, isCounted: Bool = true) { outcome.add(view.key(reference), isCounted: isCounted) }

    /// Calls `body` with each row that the request targets, as it was before the request.
    func forEachRow(of target: BatchTarget, _ body: (UnsafeRowView, EntityTable) throws -> Void) throws {
        switch target {
        case .query(let query):
            let statistics = try view.execute(query) { row in
                try unretainedTable(of: row.reference)._withUnsafeGuaranteedRef { try body(row, $0) }
                return true
            }
            guard statistics != nil else { throw UnansweredQuery() }
        case .keys(let keys):
            for key in keys where schema.holds(key, slotBase: slotBase) {
                if let row = try transaction.base.unsafeRow(view.reference(key)) { try body(row, try table(of: row.reference)) }
            }
        }
    }

    // MARK: Writing

    /// Builds a row in the table's current layout.
    func build(_ values: [ManagedValue], _ table: EntityTable) throws -> UnsafeRawBufferPointer {
        guard table.derivations != nil else { return try values.withUnsafeBufferPointer { try encode($0, table) } }
        return try scope.completing(values, of: nil, in: table).withUnsafeBufferPointer { try encode($0, table) }
    }

    @inline(__always)
    private func encode(_ values: UnsafeBufferPointer<ManagedValue>, _ table: EntityTable) throws -> UnsafeRawBufferPointer {
        builder.begin(table.layout)
        for property in table.positions.indices {
            if let position = table.positions[property] { try encode(values[property], at: position, property, table) }
        }
        return builder.unsafeBody()
    }

    /// Builds a new version of `row` with some properties changed.
    /// - Parameter values: by property index; `unset` keeps the row's value.
    func rebuild(_ row: UnsafeRowView, _ values: [ManagedValue], _ table: EntityTable) throws -> UnsafeRawBufferPointer {
        try values.withUnsafeBufferPointer { try rebuild(row, $0, table) }
    }

    func rebuild(_ row: UnsafeRowView, _ values: UnsafeBufferPointer<ManagedValue>, _ table: EntityTable) throws -> UnsafeRawBufferPointer {
        guard table.derivations != nil else { return try encode(values, over: row, table) }
        return try scope.completing(Array(values), of: row, in: table).withUnsafeBufferPointer { try encode($0, over: row, table) }
    }

    @inline(__always)
    private func encode(
        _ values: UnsafeBufferPointer<ManagedValue>, over row: UnsafeRowView, _ table: EntityTable
    ) throws -> UnsafeRawBufferPointer {
        try builder.begin(table, revising: row)
        for property in values.indices where !values[property].isUnset {
            if let position = table.positions[property] { try encode(values[property], at: position, property, table) }
        }
        return builder.unsafeBody()
    }

    private var scope: DerivationScope {
        DerivationScope(transaction: transaction, schema: schema) { [view] in $0.isNone ? nil : view.reference($0) }
    }

    /// Computes the derived attributes that depend on rows the request has written.
    func derive() throws {
        guard let watches = schema.derivations else { return }
        var derived = DerivedAttributes(watches, scope)
        if try !derived.run().isEmpty { hasWritten = true }
    }

    private func encode(_ value: ManagedValue, at position: Int, _ property: Int, _ table: EntityTable) throws {
        switch value {
        case .reference(let key):
            guard !key.isNone else { return builder.setNull(position) }
            builder.set(position, reference: view.reference(key))
        case .object:
            let value = try value.transformed(property, of: table.runtime.entity)
            try transaction.encode(value, into: builder, at: position, of: table.layout)
        default: try transaction.encode(value, into: builder, at: position, of: table.layout)
        }
    }

    /// - Parameter changed: see `Transaction.put`.
    func put(_ reference: RowReference, _ body: UnsafeRawBufferPointer, changing changed: ColumnSet = .all) throws {
        try transaction.put(reference, body: body, changing: changed)
        hasWritten = true
    }

    /// Replaces `row` by the row built last, if they differ.
    func put(_ body: UnsafeRawBufferPointer, replacing row: UnsafeRowView) throws {
        guard let start = body.baseAddress, row.byteCount != body.count || memcmp(row.body, start, body.count) != 0 else { return }
        try put(row.reference, body, changing: builder.changed)
    }

    /// - Returns: false if the row does not exist.
    @discardableResult
    func delete(_ reference: RowReference) throws -> Bool {
        guard try transaction.delete(reference) else { return false }
        hasWritten = true
        return true
    }
}

extension RecordLogStore: BatchStore {
    /// Executes a batch in one transaction, or in several if an insertion asks for that.
    package final func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome {
        let loaded = try loaded()
        var outcome = outcome
        var assigned: [String] = [], hasWritten = false
        if case .update(let update) = batch { assigned = update.values.map(\.name) }
        func write(_ body: (RecordLogBatch) throws -> Void) throws {
            try loaded.log.write(author: origin.author) { transaction in
                try checkVersion(of: transaction.base, loaded)
                let batch = RecordLogBatch(transaction, of: loaded.log, schema: loaded.schema, slotBase: slotBase, outcome: outcome)
                try body(batch)
                try batch.derive()
                if batch.hasWritten { try recordHistory(of: transaction, loaded.schema, assigned: assigned, origin) }
                outcome = batch.outcome
                hasWritten = hasWritten || batch.hasWritten
                commits.note(base: transaction.base.sequence, isFollowed: batch.hasWritten)
            }
        }
        do {
            switch batch {
            case .insert(let insertion):
                while !insertion.rows.isAtEnd { try write { try RecordLogBatchInsert($0, insertion).run() } }
            case .update(let update): try write { try RecordLogBatchUpdate($0, update).run() }
            case .delete(let target):
                try write { batch in
                    var deletion = RecordLogBatchDelete(batch)
                    try deletion.run(target)
                }
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
        reportCommits(upTo: loaded.log.snapshot().sequence, hasOwn: hasWritten)
        return outcome
    }
}
