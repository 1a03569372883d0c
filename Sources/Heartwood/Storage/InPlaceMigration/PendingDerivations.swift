import Foundation
import RecordLog

/// Marks derived attributes that must be computed after a migration, in a commit of their own: derivations look up values in the indexes of the
/// previous commit.
///
/// Crash points: the mark is a system row. The commit that computes the values deletes it; until then each opening for writing computes them first.
enum PendingDerivations {
    /// Sets the mark where the migration affects derived attributes.
    /// - Parameter isChanged: whether the migration changed a row, or the meaning of a name, so that a key path may give another value.
    static func note(
        _ comparison: ModelComparison, _ entities: [NSEntityDescription], in transaction: Transaction, isChanged: Bool
    ) throws {
        let derived = entities.filter { $0.propertiesByIndex.contains { $0 is NSDerivedAttributeDescription } }
        guard derived.contains(where: { isChanged || hasNewDerivation($0, comparison) }) else { return }
        try transaction.setSystemValue(RecordLogSystemRow.pendingDerivations, [1])
    }

    private static func hasNewDerivation(_ entity: NSEntityDescription, _ comparison: ModelComparison) -> Bool {
        let pairs = comparison.pair(to: entity)?.properties ?? []
        return entity.propertiesByIndex.contains { property in
            guard let derived = property as? NSDerivedAttributeDescription else { return false }
            let old = pairs.first { $0.destination === derived }?.source as? NSDerivedAttributeDescription
            return old?.derivationExpression?.description != derived.derivationExpression?.description
                || old?.attributeType != derived.attributeType
        }
    }
}
