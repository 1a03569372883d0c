import Foundation
import RecordLog

/// Derived attributes that a migration has left to be derived: it has changed what they follow from, and a commit of its own derives them,
/// since derivations look things up in indexes of the commit before.
///
/// Crash points: the system row that says so goes in the commit that has derived them; until then each opening for writing begins with it.
enum PendingDerivations {
    /// Notes that the store's derived attributes are due, where they are.
    /// - Parameter isChanged: whether the migration has changed what a key path finds: by changing a row, or what a name stands for.
    static func note(
        _ comparison: ModelComparison, _ entities: [NSEntityDescription], in transaction: Transaction, isChanged: Bool
    ) throws {
        let derived = entities.filter { $0.frozenProperties.contains { $0 is NSDerivedAttributeDescription } }
        guard derived.contains(where: { isChanged || hasNewDerivation($0, comparison) }) else { return }
        try transaction.setSystemValue(RecordLogSystemRow.pendingDerivations, [1])
    }

    private static func hasNewDerivation(_ entity: NSEntityDescription, _ comparison: ModelComparison) -> Bool {
        let pairs = comparison.pair(to: entity)?.properties ?? []
        return entity.frozenProperties.contains { property in
            guard let derived = property as? NSDerivedAttributeDescription else { return false }
            let old = pairs.first { $0.destination === derived }?.source as? NSDerivedAttributeDescription
            return old?.derivationExpression?.description != derived.derivationExpression?.description
                || old?.attributeType != derived.attributeType
        }
    }
}

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
