import RecordLog

extension RecordLogStore {
    /// Derives what a migration has left. A number that its attribute does not hold is null then: the store is of the new version already, and
    /// would never be opened again. The next save that derives it says so.
    /// - Complexity: O(objects with derived attributes) where anything is due; else one look-up.
    final func derivePending(_ log: LogStore, _ schema: RecordLogSchema) throws {
        guard !isReadOnly, let watches = schema.derivations, try log.snapshot().systemValue(RecordLogSystemRow.pendingDerivations) != nil
        else { return }
        let slotBase = slotBase
        try log.write { transaction in
            guard try transaction.base.systemValue(RecordLogSystemRow.pendingDerivations) != nil else { return }
            let scope = DerivationScope(transaction: transaction, schema: schema) { key in
                key.isNone ? nil : RowReference(rawValue: key.rawValue &- slotBase)
            }
            var rows: [RowReference] = []
            for case let table? in schema.tables where table.derivations != nil {
                try transaction.base.scan(table.id) { row in
                    rows.append(row.reference)
                    return true
                }
            }
            var derived = DerivedAttributes(watches, scope, leavingOutWhatDoesNotFit: true)
            _ = try derived.run(completing: rows)
            try transaction.setSystemValue(RecordLogSystemRow.pendingDerivations, nil)
        }
    }
}
