import Foundation
import RecordLog

/// Checks that rows are as unique as the new version of a model requires, over all entities that share a constraint.
struct MigratedUniqueness {
    private struct Declaration: Hashable {
        let entity: ObjectIdentifier
        let constraint: [String]
    }

    /// The properties whose values must be unique together.
    private let constraint: [String]
    private let tables: [MigratedTable]

    /// Returns the constraints that the old version did not already guarantee for the same values.
    static func all(_ tables: [MigratedTable], _ catalog: Catalog) -> [MigratedUniqueness] {
        var families: [Declaration: [MigratedTable]] = [:]
        for table in tables {
            for constraint in table.destination.allUniquenessConstraints {
                let declaration = Declaration(entity: ObjectIdentifier(table.destination.owner(ofConstraint: constraint)), constraint: constraint)
                families[declaration, default: []].append(table)
            }
        }
        return families.compactMap { declaration, tables in
            let before = tables.map { holder(of: declaration.constraint, $0, catalog).map(ObjectIdentifier.init) }
            return Set(before).count == 1 && before[0] != nil ? nil : MigratedUniqueness(constraint: declaration.constraint, tables: tables)
        }
    }

    /// Returns the entity whose constraint guaranteed uniqueness before; nil where none did, or where values may have changed since.
    private static func holder(of constraint: [String], _ table: MigratedTable, _ catalog: Catalog) -> NSEntityDescription? {
        let columns = constraint.compactMap { name in table.columns.first { $0.property.name == name && !$0.mayChange }?.kept }
        guard columns.count == constraint.count else { return nil }
        let isKnown = catalog.indexes(on: table.definition.id).contains { index in
            index.name.hasPrefix(RecordLogNames.unique([])) && index.parts.map(\.column) == columns.map(\.id)
        }
        return isKnown ? table.source.owner(ofConstraint: columns.map(\.name)) : nil
    }

    /// - Throws: 134111, naming the first two rows found with equal values.
    /// - Complexity: O(rows log rows) in time, 16 bytes a row in memory.
    func check(_ transaction: Transaction) throws {
        let readers = Dictionary(tables.map { ($0.definition.id, Reader(constraint, $0, transaction)) }) { first, _ in first }
        var hashes: [(hash: Int, row: RowReference)] = []
        for (id, reader) in readers {
            try transaction.base.scan(id) { old in
                guard let row = try transaction.unsafeRow(old.reference), reader.read(row) else { return true }
                var hasher = Hasher()
                hasher.combine(bytes: reader.key.unsafeBuffer)
                hashes.append((hasher.finalize(), old.reference))
                return true
            }
        }
        hashes.sort { ($0.hash, $0.row.rawValue) < ($1.hash, $1.row.rawValue) }
        var start = 0
        while start < hashes.count {
            var end = start + 1
            while end < hashes.count, hashes[end].hash == hashes[start].hash { end += 1 }
            if end - start > 1 {
                var seen: [[UInt8]: RowReference] = [:]
                for entry in hashes[start..<end] {
                    guard let reader = readers[entry.row.table], let row = try transaction.unsafeRow(entry.row), reader.read(row) else { continue }
                    if let other = seen.updateValue(entry.row, forKey: reader.key.bytes) { throw violation(other, entry.row) }
                }
            }
            start = end
        }
    }

    /// Builds the constraint's key from rows of one table.
    private struct Reader {
        let key = KeyBuilder()
        /// Accesses to defaults lead to its memory.
        private let definition: TableDefinition
        /// By layout, then by column of the constraint.
        private let accesses: [[ColumnAccess]]

        init(_ constraint: [String], _ table: MigratedTable, _ transaction: Transaction) {
            let definition = transaction.catalog.table(table.definition.id) ?? table.definition
            self.definition = definition
            let columns = constraint.compactMap { name in definition.currentLayout.columns.first { $0.name == name }?.id }
            accesses = definition.layouts.map { layout in
                columns.map { layout.access(of: $0) }
            }
        }

        /// - Returns: false for a row with a null, which is never equal to another.
        func read(_ row: UnsafeRowView) -> Bool {
            key.removeAll()
            for access in accesses[Int(row.layoutID.rawValue)] {
                guard !access.isAbsent, !row.isNull(access) else { return false }
                key.append(column: access, of: row)
            }
            return true
        }
    }

    private func violation(_ one: RowReference, _ other: RowReference) -> NSError {
        func entity(_ row: RowReference) -> String { tables.first { $0.definition.id == row.table }?.destination.name ?? "?" }
        let names = constraint.joined(separator: ", ")
        let objects = one.table == other.table
            ? "the objects of \(entity(one)) in the rows \(one.row) and \(other.row)"
            : "the object of \(entity(one)) in the row \(one.row) and that of \(entity(other)) in the row \(other.row)"
        return CoreDataError.make(
            NSMigrationConstraintViolationError,
            "The store cannot be brought to the model's version: \(objects) have the same values of \(names), which are unique in that version. "
                + "It is as it was.",
            ["reason": "constraint violation during attempted migration", "entity": entity(one), "constraint": constraint])
    }
}
