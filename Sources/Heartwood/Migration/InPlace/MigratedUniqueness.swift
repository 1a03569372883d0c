import Foundation
import RecordLog

/// Whether a table's rows are as unique as the new version of its entity wants them.
struct MigratedUniqueness {
    private let table: MigratedTable
    /// Those that did not hold of the same values before.
    private let constraints: [[String]]

    init(_ table: MigratedTable, _ catalog: Catalog) {
        self.table = table
        let known = catalog.indexes(on: table.definition.id).filter { $0.name.hasPrefix(RecordLogNames.unique([])) }
        let filled = Set(table.columns.filter(\.mayChange).map(\.property.name))
        constraints = table.destination.allUniquenessConstraints.filter { names in
            let columns = names.map { name in table.columns.first { $0.property.name == name }?.kept?.id }
            let wasUnique = known.contains { index in index.parts.map(\.column) == columns.compactMap(\.self) }
            return !wasUnique || columns.contains(nil) || names.contains(where: filled.contains)
        }
    }

    /// - Throws: 134111 with the values that two objects share.
    /// - Complexity: O(rows log rows) in time, 16 bytes a row in memory; nothing where no constraint is new.
    func check(_ transaction: Transaction) throws {
        for constraint in constraints { try check(constraint, transaction) }
    }

    private func check(_ constraint: [String], _ transaction: Transaction) throws {
        guard let definition = transaction.catalog.table(table.definition.id) else { return }
        let columns = constraint.compactMap { name in definition.currentLayout.columns.first { $0.name == name }?.id }
        let accesses = definition.layouts.map { layout in
            columns.map { column in layout.position(of: column).map { layout.access[$0] } ?? .absent }
        }
        let key = KeyBuilder()
        /// - Returns: false for a row that has null, which is equal to nothing.
        func make(_ row: RowView) -> Bool {
            key.removeAll()
            for access in accesses[Int(row.layoutID.rawValue)] {
                guard !access.isAbsent, !row.isNull(access) else { return false }
                key.append(column: access, of: row)
            }
            return true
        }
        func bytes(_ row: UInt64) throws -> [UInt8] {
            guard let view = try transaction.row(RowReference(table: definition.id, row: row)), make(view) else { return [] }
            return key.bytes
        }
        var hashes: [(hash: Int, row: UInt64)] = []
        try transaction.base.scan(definition.id) { old in
            guard let row = try transaction.row(old.reference), make(row) else { return true }
            var hasher = Hasher()
            hasher.combine(bytes: key.buffer)
            hashes.append((hasher.finalize(), old.reference.row))
            return true
        }
        hashes.sort { ($0.hash, $0.row) < ($1.hash, $1.row) }
        var start = 0
        while start < hashes.count {
            var end = start + 1
            while end < hashes.count, hashes[end].hash == hashes[start].hash { end += 1 }
            if end - start > 1 {
                var seen: [[UInt8]: UInt64] = [:]
                for entry in hashes[start..<end] {
                    if let other = try seen.updateValue(entry.row, forKey: bytes(entry.row)) { throw violation(constraint, other, entry.row) }
                }
            }
            start = end
        }
    }

    private func violation(_ constraint: [String], _ one: UInt64, _ other: UInt64) -> NSError {
        let entity = table.destination.name ?? "?", names = constraint.joined(separator: ", ")
        return CoreDataError.make(
            NSMigrationConstraintViolationError,
            "The store cannot be brought to the model's version: the objects of \(entity) in the rows \(one) and \(other) have the same "
                + "values of \(names), which are unique in that version. It is as it was.",
            ["reason": "constraint violation during attempted migration", "entity": entity, "constraint": constraint])
    }
}
