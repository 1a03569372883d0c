import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Checks the join tables: both ends of each pair exist, no pair occurs twice, and each ordered side has its order keys.
struct JoinAudit {
    private struct Join {
        let names: JoinTableNames
        let owner: NSEntityDescription
        let destination: NSEntityDescription
        /// The columns of an owner and of its members' order.
        var orders: [(owner: String, order: String)]
    }

    private let run: AuditRun
    private let store: ExaminedStore

    init(_ run: AuditRun, _ store: ExaminedStore) { (self.run, self.store) = (run, store) }

    /// - Parameter guarded: runs the check of one table.
    func check(_ guarded: (String, () throws -> Void) throws -> Void) throws {
        for join in joins { try guarded(join.names.table) { try check(join) } }
    }

    private var joins: [Join] {
        var found: [String: Join] = [:]
        for entity in store.layout?.entities.values.sorted(by: { $0.number < $1.number }) ?? [] {
            for (index, place) in entity.places.enumerated() {
                guard case .join(let names)? = place, let relationship = entity.entity.propertiesByIndex[index] as? NSRelationshipDescription,
                    let destination = relationship.destinationEntity
                else { continue }
                var join = found[names.table] ?? Join(
                    names: names, owner: relationship.inverseRelationship?.destinationEntity ?? entity.entity, destination: destination, orders: [])
                if let order = names.order, !join.orders.contains(where: { $0.order == order }) { join.orders.append((names.source, order)) }
                found[names.table] = join
            }
        }
        return found.values.sorted { $0.names.table < $1.names.table }
    }

    private struct Pair {
        let first: Int64
        let second: Int64
        let row: Int64
    }

    private func check(_ join: Join) throws {
        let table = try store.file.table(named: join.names.table)
        guard let source = table.index(ofColumn: join.names.source), let destination = table.index(ofColumn: join.names.destination),
            let owners = try RowFinder(join.owner, store), let members = try RowFinder(join.destination, store)
        else { return }
        var pairs: [Pair] = []
        try table.forEachRow { row in
            run.countRow()
            let first = try end(row, source, owners, table), second = try end(row, destination, members, table)
            if let first, let second { pairs.append(Pair(first: first, second: second, row: row.rowid)) }
            return true
        }
        report(twice: pairs, table, nil) { "row \($0.row) has the same pair, of \($0.first) and \($0.second)" }
        for (owner, order) in join.orders {
            guard let owner = table.index(ofColumn: owner), let order = table.index(ofColumn: order) else { continue }
            try check(table, owner, order)
        }
    }

    /// - Returns: the key; nil if there is none.
    private func end(_ row: borrowing SQLiteRow, _ column: Int, _ finder: RowFinder, _ table: SQLiteTable) throws -> Int64? {
        let rowid = row.rowid
        func found(_ message: String) { run.found(table, rowid, column, message) }
        guard let key = try row.integer(column) else {
            found("it has \(ValueFault.name(try row.kind(column))) where a key belongs")
            return nil
        }
        switch try finder.entity(ofRow: key) {
        case nil: run.foundNoRow(key, of: finder.table.name, table, rowid, column)
        case let number? where !finder.numbers.contains(number):
            found("it refers to row \(key) of \(finder.table.name), which is of the entity \(number), where the relationship does not lead")
        default: break
        }
        return key
    }

    private func check(_ table: SQLiteTable, _ owner: Int, _ order: Int) throws {
        var places: [Pair] = []
        try table.forEachRow { row in
            guard let key = try row.integer(owner) else { return true }
            if let place = try row.integer(order) {
                places.append(Pair(first: key, second: place, row: row.rowid))
            } else {
                run.foundNoPlace(try row.kind(order), table, row.rowid, order)
            }
            return true
        }
        report(twice: places, table, order) { "row \($0.row) has the same place in the list of row \($0.first)" }
    }

    private func report(twice pairs: [Pair], _ table: SQLiteTable, _ column: Int?, _ message: (Pair) -> String) {
        let sorted = pairs.sorted { ($0.first, $0.second, $0.row) < ($1.first, $1.second, $1.row) }
        for (first, next) in zip(sorted, sorted.dropFirst()) where first.first == next.first && first.second == next.second {
            run.found(table.name, row: next.row, column: column.map { table.columns[$0].name }, message(first))
        }
    }
}
