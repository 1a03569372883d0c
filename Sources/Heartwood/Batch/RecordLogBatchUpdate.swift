import Foundation
import RecordLog

/// Sets properties of many rows.
struct RecordLogBatchUpdate {
    private let batch: RecordLogBatch
    private let update: BatchUpdate
    private let uniqueness: BatchUniqueness

    init(_ batch: RecordLogBatch, _ update: BatchUpdate) {
        self.batch = batch
        self.update = update
        uniqueness = BatchUniqueness(batch)
    }

    /// One table's values, made ready.
    private final class Plan {
        let table: EntityTable
        let entries: [BatchUpdateValue]
        /// Whether a value that must be unique is set.
        let isUniqueChanged: Bool
        /// A row's new values, by property index; what is not updated is unset.
        @exclusivity(unchecked) var values: [ManagedValue]

        init(_ table: EntityTable, _ update: BatchUpdate, _ view: RecordLogView) throws {
            self.table = table
            values = Array(repeating: .unset, count: table.runtime.properties.count)
            entries = try update.values.map { try BatchUpdateValue($0.name, $0.value, table, view) }
            isUniqueChanged = entries.contains { table.uniqueProperties.contains($0.property) }
        }
    }

    func run() throws {
        var plans: [Plan] = []
        func plan(of table: EntityTable) throws -> Plan {
            if let known = plans.first(where: { $0.table === table }) { return known }
            let made = try Plan(table, update, batch.view)
            plans.append(made)
            return made
        }
        // What does not fit is an error also where no row is met.
        if case .query(let query) = update.target {
            for runtime in query.runtimes { _ = try plan(of: batch.table(of: runtime)) }
        }
        // Rows may take each other's unique values: who has them is told at the end.
        var claimants: [RowReference] = []
        let scope = QueryScope(view: batch.view)
        try batch.forEachRow(of: update.target) { row, table in
            let plan = try plan(of: table)
            for entry in plan.entries { plan.values[entry.property] = try entry.value(for: row, scope) }
            let body = try batch.rebuild(row, plan.values, table)
            try batch.put(body, replacing: row)
            batch.note(row.reference)
            guard plan.isUniqueChanged, let start = body.baseAddress else { return }
            uniqueness.note(RowView(body: start, byteCount: body.count, reference: row.reference, version: 0), table, isNew: false)
            claimants.append(row.reference)
        }
        for reference in claimants {
            let table = try batch.table(of: reference)
            guard let row = try batch.transaction.row(reference), let conflict = try uniqueness.conflict(of: row, table) else { continue }
            throw BatchConstraintViolation(table.names(of: conflict.index), holder: batch.view.key(conflict.holder))
        }
    }
}
