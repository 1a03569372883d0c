import RecordLog

extension RecordLogStore {
    /// Computes the derived attributes that a migration has postponed. A number that does not fit its attribute becomes null: the store already has
    /// the new version, and an error would keep it from ever being opened. The next save that derives the number throws.
    /// - Complexity: O(objects with derived attributes) if any are due; otherwise one lookup.
    final func derivePending(_ log: LogStore, _ schema: RecordLogSchema) throws {
        guard !isReadOnly, let watches = schema.derivations, try log.snapshot().unsafeSystemValue(RecordLogSystemRow.pendingDerivations) != nil
        else { return }
        let slotBase = slotBase
        try log.write { transaction in
            guard try transaction.base.unsafeSystemValue(RecordLogSystemRow.pendingDerivations) != nil else { return }
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
