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
