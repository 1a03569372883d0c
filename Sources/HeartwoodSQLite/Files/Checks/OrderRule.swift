import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// The members of a to-many relationship that their own rows state: a column with the owner's key, and one for the order. Facts, "order".
struct OrderRule {
    private let owner: Int
    private let order: Int?
    private let members: Set<Int64>
    /// The owner's rows; nil where a to-one inverse, which is checked itself, states the owner.
    private let owners: RowFinder?

    /// The rules of the relationships whose members are rows of a table.
    static func all(in store: ExaminedStore, of table: SQLiteTable) -> [OrderRule] {
        var seen: Set<Int> = []
        return (store.layout?.entities.values.sorted { $0.number < $1.number } ?? []).flatMap { entity in
            entity.places.enumerated().compactMap { index, place in
                guard case .inverse(table.name, let column, let order)? = place, let owner = table.index(ofColumn: column),
                    let relationship = entity.entity.propertiesByIndex[index] as? NSRelationshipDescription,
                    let destination = relationship.destinationEntity, seen.insert(owner).inserted
                else { return nil }
                let members = Set(destination.family.compactMap { store.contents.numbers.number(of: $0) })
                let hasInverse = relationship.inverseRelationship != nil
                guard order != nil || !hasInverse else { return nil }
                let owners = hasInverse ? nil : try? RowFinder(entity.entity.owner(of: relationship), store)
                return OrderRule(owner: owner, order: order.flatMap { table.index(ofColumn: $0) }, members: members, owners: owners)
            }
        }
    }

    private struct Entry {
        let owner: Int64
        let order: Int64
        let row: Int64
    }

    func check(_ table: SQLiteTable, _ run: AuditRun) throws {
        guard let entityColumn = table.index(ofColumn: "Z_ENT") else { return }
        var entries: [Entry] = []
        try table.forEachRow { row in
            guard try row.integer(entityColumn).map(members.contains) ?? false, let key = try row.integer(owner) else { return true }
            if let owners, try owners.entity(ofRow: key) == nil {
                run.foundNoRow(key, of: owners.table.name, table, row.rowid, owner)
            }
            guard let order else { return true }
            guard let position = try row.integer(order) else {
                run.foundNoPlace(try row.kind(order), table, row.rowid, order)
                return true
            }
            entries.append(Entry(owner: key, order: position, row: row.rowid))
            return true
        }
        guard let order else { return }
        entries.sort { ($0.owner, $0.order, $0.row) < ($1.owner, $1.order, $1.row) }
        for (first, next) in zip(entries, entries.dropFirst()) where first.owner == next.owner && first.order == next.order {
            run.found(table, next.row, order, "row \(first.row) has the same place in the list of row \(next.owner)")
        }
    }
}
