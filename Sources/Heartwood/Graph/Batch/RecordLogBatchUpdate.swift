import Foundation
import RecordLog

/// Sets properties of many rows.
final class RecordLogBatchUpdate {
    private let batch: RecordLogBatch
    private let update: BatchUpdate
    private let uniqueness: BatchUniqueness
    private let scope: QueryScope
    private var plans: [Plan] = []
    /// The plan of the previous row; `plans` retains it.
    @exclusivity(unchecked) private var last: Unmanaged<Plan>?
    /// The rows whose unique values were set. Rows may exchange unique values, so conflicts are sought at the end.
    private var claimants: [RowReference] = []

    init(_ batch: RecordLogBatch, _ update: BatchUpdate) {
        self.batch = batch
        self.update = update
        uniqueness = BatchUniqueness(batch)
        scope = QueryScope(view: batch.view)
    }

    /// The values to set in one table's rows.
    private final class Plan {
        let table: EntityTable
        private let entries: [BatchUpdateValue]
        /// The same entries, for loops that count no references.
        private let unretained: [Unmanaged<BatchUpdateValue>]
        /// Whether a unique value is set.
        let isUniqueChanged: Bool
        /// A row's new values, by property index; `unset` for properties that are not updated.
        private let values: UnsafeMutableBufferPointer<ManagedValue>

        init(_ table: EntityTable, _ update: BatchUpdate, _ view: RecordLogView) throws {
            self.table = table
            let made = try update.values.map { try BatchUpdateValue($0.name, $0.value, table, view) }
            entries = made
            unretained = made.map(Unmanaged.passUnretained)
            isUniqueChanged = made.contains { table.uniqueProperties.contains($0.property) }
            values = .allocate(capacity: table.runtime.properties.count)
            values.initialize(repeating: .unset)
        }

        deinit {
            values.deinitialize()
            values.deallocate()
        }

        /// Returns a row's new values by property index, valid until the next call.
        @inline(__always)
        func values(of row: UnsafeRowView, _ scope: QueryScope) throws -> UnsafeBufferPointer<ManagedValue> {
            for index in unretained.indices {
                try unretained[index]._withUnsafeGuaranteedRef { values[$0.property] = try $0.value(for: row, scope) }
            }
            return UnsafeBufferPointer(values)
        }
    }

    @inline(__always)
    private func plan(of table: EntityTable) throws -> Unmanaged<Plan> {
        if let last, last._withUnsafeGuaranteedRef({ $0.table === table }) { return last }
        return try findPlan(of: table)
    }

    @inline(never)
    private func findPlan(of table: EntityTable) throws -> Unmanaged<Plan> {
        let plan = try plans.first { $0.table === table } ?? makePlan(of: table)
        last = .passUnretained(plan)
        return .passUnretained(plan)
    }

    private func makePlan(of table: EntityTable) throws -> Plan {
        let made = try Plan(table, update, batch.view)
        plans.append(made)
        return made
    }

    func run() throws {
        // A value that does not fit is an error even if the query finds no row.
        if case .query(let query) = update.target {
            for runtime in query.runtimes { _ = try findPlan(of: batch.table(of: runtime)) }
        }
        try batch.forEachRow(of: update.target, set)
        for reference in claimants {
            let table = try batch.table(of: reference)
            guard let row = try batch.transaction.unsafeRow(reference), let conflict = try uniqueness.conflict(of: row, table) else { continue }
            throw BatchConstraintViolation(table.names(of: conflict.index), holder: batch.view.key(conflict.holder))
        }
    }

    private func set(_ row: UnsafeRowView, _ table: EntityTable) throws {
        try plan(of: table)._withUnsafeGuaranteedRef { plan in
            let body = try batch.rebuild(row, plan.values(of: row, scope), table)
            try batch.put(body, replacing: row)
            batch.note(row.reference)
            guard plan.isUniqueChanged, let start = body.baseAddress else { return }
            uniqueness.note(UnsafeRowView(body: start, byteCount: body.count, reference: row.reference, version: 0), table, isNew: false)
            claimants.append(row.reference)
        }
    }
}
