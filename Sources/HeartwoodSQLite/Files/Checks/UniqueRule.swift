import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// A uniqueness constraint, over the rows of an entity and its subentities. A row with a null among the values is not constrained.
struct UniqueRule {
    private let names: [String]
    private let columns: [Int]
    private let numbers: Set<Int64>

    /// The constraints that entities of one table declare.
    static func all(of entities: [CoreDataLayout.Entity], _ table: SQLiteTable) -> [UniqueRule] {
        var rules: [UniqueRule] = []
        let byEntity = Dictionary(entities.map { (ObjectIdentifier($0.entity), $0) }) { first, _ in first }
        for entity in entities {
            let numbers = Set(entity.entity.family.compactMap { byEntity[ObjectIdentifier($0)]?.number })
            for names in entity.entity.allUniquenessConstraints {
                let columns = names.compactMap { name in entity.column(of: name).flatMap { table.index(ofColumn: $0) } }
                let isKnown = rules.contains { $0.columns == columns && $0.numbers.isSuperset(of: numbers) }
                guard columns.count == names.count, !columns.isEmpty, !isKnown else { continue }
                rules.append(UniqueRule(names: names, columns: columns, numbers: numbers))
            }
        }
        return rules
    }

    private struct Entry {
        let hash: Int
        let row: Int64
    }

    /// Rows with equal hashes are compared by their values.
    func check(_ table: SQLiteTable, _ run: AuditRun) throws {
        guard let entityColumn = table.index(ofColumn: "Z_ENT") else { return }
        var entries: [Entry] = []
        try table.forEachRow { row in
            guard try row.integer(entityColumn).map(numbers.contains) ?? false, let hash = try hash(of: row) else { return true }
            entries.append(Entry(hash: hash, row: row.rowid))
            return true
        }
        entries.sort { ($0.hash, $0.row) < ($1.hash, $1.row) }
        var finder = try table.rows(), first = 0
        for next in entries.indices.dropFirst() {
            guard entries[next].hash == entries[first].hash else {
                first = next
                continue
            }
            guard try finder.find(entries[first].row), let values = try values(of: finder.row), try finder.find(entries[next].row),
                try self.values(of: finder.row) == values
            else { continue }
            run.found(
                table.name, row: entries[next].row, column: columns.map { table.columns[$0].name }.joined(separator: ", "),
                "row \(entries[first].row) has the same \(names.joined(separator: ", ")), which is to be unique")
        }
    }

    /// - Returns: nil if a value is null.
    private func values(of row: borrowing SQLiteRow) throws -> [SQLiteValue]? {
        var values: [SQLiteValue] = []
        for column in columns {
            let value = try row.value(column)
            guard value != .null else { return nil }
            values.append(value)
        }
        return values
    }

    private func hash(of row: borrowing SQLiteRow) throws -> Int? {
        guard let values = try values(of: row) else { return nil }
        var hasher = Hasher()
        for value in values {
            switch value {
            case .null: break
            // A whole real may be stored as an integer.
            case .integer(let number): hasher.combine(Double(number))
            case .real(let number): hasher.combine(number)
            case .text(let bytes), .blob(let bytes): hasher.combine(bytes)
            }
        }
        return hasher.finalize()
    }
}

extension CoreDataLayout.Entity {
    /// The column of an attribute or a to-one relationship.
    fileprivate func column(of property: String) -> String? {
        guard let index = entity.propertyIndexByName[property] else { return nil }
        switch places[index] {
        case .column(let name)?, .toOne(let name, _)?: return name
        case .inverse?, .join?, nil: return nil
        }
    }
}
