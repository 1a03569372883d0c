import RecordLog

/// The values that a batch update sets, made once for each table. For stores outside of this module; the update of a record log keeps its own, whose
/// loop counts no references.
package struct BatchUpdatePlans {
    private let update: BatchUpdate
    private var known: [ObjectIdentifier: [BatchUpdateValue]] = [:]

    /// - Throws: as `BatchUpdateValue` does. A value that does not fit is an error even if the query finds no row.
    package init(_ update: BatchUpdate, _ schema: RecordLogSchema, slotBase: UInt64) throws {
        self.update = update
        guard case .query(let query) = update.target else { return }
        for runtime in query.runtimes { _ = try plan(schema.table(of: runtime, slotBase: slotBase)) }
    }

    private mutating func plan(_ table: EntityTable) throws -> [BatchUpdateValue] {
        if let made = known[ObjectIdentifier(table)] { return made }
        let made = try update.values.map { try BatchUpdateValue($0.name, $0.value, table, nil) }
        known[ObjectIdentifier(table)] = made
        return made
    }

    /// Returns a row's new values by property index; `unset` for properties that are not updated.
    package mutating func values(of row: UnsafeRowView, _ table: EntityTable, _ scope: QueryScope) throws -> [ManagedValue] {
        var values = [ManagedValue](repeating: .unset, count: table.runtime.properties.count)
        for entry in try plan(table) { values[entry.property] = try entry.value(for: row, scope) }
        return values
    }
}
