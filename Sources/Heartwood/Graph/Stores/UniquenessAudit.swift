import RecordLog

/// Finds rows of one commit that have the same values of a uniqueness constraint.
///
/// The constraint's indexes bring such rows together: those of an entity and of all entities that inherit the constraint are merged.
/// - Complexity: O(entries of unique indexes); memory that does not depend on them.
package struct UniquenessAudit {
    package struct Repetition {
        package let row: RowReference
        /// Another row with the same values.
        package let holder: RowReference
        /// The constraint's attributes, for messages.
        package let attributes: String
    }

    private let snapshot: Snapshot
    private let schema: RecordLogSchema

    package init(_ snapshot: Snapshot, _ schema: RecordLogSchema) {
        self.snapshot = snapshot
        self.schema = schema
    }

    /// Calls `body` with each row whose values a row before has.
    package func run(_ body: (Repetition) throws -> Void) throws {
        for case let table? in schema.tables {
            for index in table.uniqueIndexes.map({ $0.takeUnretainedValue() }) where index.constraint == index.id.rawValue {
                try run(table, index, body)
            }
        }
    }

    private func run(_ table: EntityTable, _ index: TableIndex, _ body: (Repetition) throws -> Void) throws {
        var inputs: [(table: TableID, cursor: IndexCursor, row: UInt64)] = []
        for (id, index) in [(table.id, index.id)] + index.siblings.map({ ($0.table, $0.index) }) where snapshot.hasIndex(index) {
            var cursor = try snapshot.cursor(index)
            if let row = try cursor.next() { inputs.append((id, cursor, row)) }
        }
        let names = table.names(of: index).joined(separator: ", ")
        var last: [UInt8] = [], holder: RowReference?
        while !inputs.isEmpty {
            var first = 0
            for position in inputs.indices.dropFirst()
            where KeyBytes.compare(inputs[position].cursor.unsafeKey, inputs[first].cursor.unsafeKey) < 0 { first = position }
            let reference = RowReference(table: inputs[first].table, row: inputs[first].row), key = inputs[first].cursor.unsafeKey
            if let holder, last.withUnsafeBytes({ KeyBytes.compare($0, key) == 0 }), try isUnique(reference, index) {
                try body(Repetition(row: reference, holder: holder, attributes: names))
            }
            last.removeAll(keepingCapacity: true)
            last.append(contentsOf: key)
            holder = reference
            if let row = try inputs[first].cursor.next() { inputs[first].row = row } else { inputs.remove(at: first) }
        }
    }

    /// Whether a row constrains its unique values: none of them is null.
    private func isUnique(_ reference: RowReference, _ index: TableIndex) throws -> Bool {
        guard let table = schema.table(reference.table), let row = try snapshot.unsafeRow(reference) else { return false }
        // A loop: in an optimized build the compiler of Swift 6.3.1 turns nested closures here into code that its own verifier rejects.
        for part in index.parts {
            guard let property = part.property, table.runtime.access(property, in: row) != nil else { return false }
        }
        return true
    }
}
