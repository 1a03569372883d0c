import Foundation
import Heartwood

/// The table of a relationship whose inverse is to-many, and its columns, as the relationship sees them.
///
/// (1) For a relationship R with the inverse I, the column `Z_<number of R's destination><R>` has the keys of R's destinations, and
///     `Z_<number of R's owner><I>` those of its owners. Facts, "many-to-many".
/// (2) The table is named after either side, `Z_<number of the owner><R>`. Facts, "many-to-many".
/// (3) Table and columns may have digits behind their names. Facts, "many-to-many".
/// (4) A relationship that is its own inverse has the column `REFLEXIVE`. Its pairs are stored in one direction or in both. Facts,
///     "many-to-many".
/// (5) An ordered side has the column `Z_FOK_<n><R>`, with the number of the column of its members. Facts, "order".
struct JoinTableNames: Equatable {
    let table: String
    /// The column with the keys of the relationship's owners.
    let source: String
    let destination: String
    let order: String?
    let isReflexive: Bool

    static let reflexive = "REFLEXIVE"

    /// The relationship's names and numbers of one side.
    struct Side {
        /// In capitals.
        let name: String
        /// Numbers that may stand before the name: that of the entity that declares the relationship, and of the one that names it.
        let owners: [Int64]
        let isOrdered: Bool
        /// The number of the entity that declares the relationship, and the relationship's name with its case.
        var claim: (number: Int64, name: String) = (0, "")

        fileprivate var tables: [String] { owners.map { "Z_\($0)\(name)" } }
    }

    /// - Returns: nil if the file has no such table.
    static func find(_ side: Side, inverse: Side?, _ schema: CoreDataSchema, taken: Set<String> = []) -> JoinTableNames? {
        let bases = side.tables + (inverse?.tables ?? [])
        let exact = bases.filter { schema.tables[$0] != nil }
        let others = schema.tables.keys.filter { name in
            !exact.contains(name) && bases.contains { ColumnNames.digits(of: name, behind: $0) != nil }
        }.sorted()
        for table in exact + others where !taken.contains(table) {
            if let found = names(of: table, side, inverse, schema) { return found }
        }
        return nil
    }

    private static func names(of table: String, _ side: Side, _ inverse: Side?, _ schema: CoreDataSchema) -> JoinTableNames? {
        let columns = (schema.tables[table] ?? []).map(\.name), orders = columns.filter { $0.hasPrefix("Z_FOK_") }
        let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
        guard keys.count == 2 else { return nil }
        guard let inverse else {
            guard let reflexive = keys.firstIndex(of: reflexive), isNamed(keys[1 - reflexive], side.name, side.owners, "Z_") else { return nil }
            return JoinTableNames(
                table: table, source: keys[reflexive], destination: keys[1 - reflexive], order: order(orders, side, behind: keys[1 - reflexive]), isReflexive: true)
        }
        // R's destinations are I's owners, so each column has the other side's numbers.
        let fitting = [(0, 1), (1, 0)].filter { destination, source in
            isNamed(keys[destination], side.name, inverse.owners, "Z_") && isNamed(keys[source], inverse.name, side.owners, "Z_")
        }
        // Names of one entity that differ by their case alone: the first claim has fewer digits, as in `JoinColumns`.
        let isFirst = side.claim < inverse.claim
        guard let (destination, source) = fitting.count < 2
            ? fitting.first : fitting.first(where: { ((keys[$0].count, keys[$0]) < (keys[$1].count, keys[$1])) == isFirst })
        else { return nil }
        let numbers = Side(name: side.name, owners: side.owners + inverse.owners, isOrdered: side.isOrdered)
        let order = order(orders, numbers, behind: keys[destination], notBehind: keys[source])
        return JoinTableNames(table: table, source: keys[source], destination: keys[destination], order: order, isReflexive: false)
    }

    /// The order of a side is usually named as the column of its members. Both sides may have one name, so the other side's is never taken.
    private static func order(_ orders: [String], _ side: Side, behind members: String, notBehind others: String = "") -> String? {
        guard side.isOrdered else { return nil }
        let own = "Z_FOK_" + members.dropFirst(2), theirs = "Z_FOK_" + others.dropFirst(2)
        return orders.contains(own) ? own : orders.first { $0 != theirs && isNamed($0, side.name, side.owners, "Z_FOK_") }
    }

    private static func isNamed(_ column: String, _ name: String, _ numbers: [Int64], _ prefix: String) -> Bool {
        numbers.contains { ColumnNames.digits(of: column, behind: "\(prefix)\($0)\(name)") != nil }
    }
}
