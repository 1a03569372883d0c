import Foundation
import RecordLog

/// Finds the row that holds a unique value, in the middle of a transaction that writes many rows.
///
/// The indexes of the constraints find the store's rows. A hash of the values, 16 bytes each, finds the rows that the transaction has
/// written; their values are compared in the log, so a batch keeps no key in memory.
///
/// Invariant: `rows` has every unique value of each noted row, unless the check is left to the end. It may also have values that a row no
/// longer has.
final class BatchUniqueness {
    private let transaction: Transaction
    private let schema: RecordLogSchema
    @exclusivity(unchecked) private var rows = RowsByHash()
    private(set) var isLeftToTheEnd = false
    /// Rows of the store that the transaction has written: the store's index entries of them are out of date.
    private var rewritten: Set<RowReference> = []
    /// The hashes of the unique values of the row last passed to `conflict`.
    @exclusivity(unchecked) private var asked: [UInt64] = []
    /// The cached answer for the table last passed to `hasStoredRows`.
    @exclusivity(unchecked) private var hasStored: (table: TableID, answer: Bool)?
    private let key = KeyBuilder()
    private let otherKey = KeyBuilder()

    init(_ batch: RecordLogBatch) {
        transaction = batch.transaction
        schema = batch.schema
    }

    /// Records that the transaction has written this row.
    /// - Parameter isNew: whether the transaction has inserted it.
    func note(_ row: UnsafeRowView, _ table: EntityTable, isNew: Bool) {
        if !isNew { rewritten.insert(row.reference) }
        asked.removeAll(keepingCapacity: true)
        addHashes(of: row, table, to: &asked)
        noteWritten(row.reference)
    }

    /// Records that the transaction has written the row last passed to `conflict`, which found no conflict.
    func noteWritten(_ reference: RowReference) {
        for index in asked.indices { rows.insert(asked[index], reference) }
    }

    // MARK: Groups

    /// Appends a hash of each of a row's unique values to `list`; appends none if the check is left to the end.
    func addHashes(of row: UnsafeRowView, _ table: EntityTable, to list: inout [UInt64]) {
        guard !isLeftToTheEnd else { return }
        for position in table.uniqueIndexes.indices {
            table.uniqueIndexes[position]._withUnsafeGuaranteedRef { index in
                key.removeAll()
                if table.appendUniqueKey(of: row, index, to: key) { list.append(hash(index)) }
            }
        }
    }

    /// Reads the table entries that `mayHold` needs for these hashes, so that the cache misses overlap.
    func prepare(_ hashes: [UInt64]) { rows.prepare(hashes) }

    /// Whether `conflict` may find a conflict for the row whose hashes are in this range of the list.
    func mayHold(_ hashes: [UInt64], _ range: Range<Int>, _ table: EntityTable) -> Bool {
        if hasStoredRows(table) { return true }
        for number in range where rows.contains(hashes[number]) { return true }
        return false
    }

    /// Records that the transaction has inserted a row with these hashes.
    func note(_ hashes: [UInt64], _ range: Range<Int>, _ reference: RowReference) {
        for number in range { rows.insert(hashes[number], reference) }
    }

    /// Whether the store already has rows that may hold a value.
    private func hasStoredRows(_ table: EntityTable) -> Bool {
        if let known = hasStored, known.table == table.id { return known.answer }
        var answer = transaction.base.rowCount(table.id) > 0
        for index in table.indexes where index.isUnique {
            for sibling in index.siblings where transaction.base.rowCount(sibling.table) > 0 { answer = true }
        }
        hasStored = (table.id, answer)
        return answer
    }

    // MARK: Large batches

    /// Leaves the check of the transaction's own rows to the end (`firstConflictAmongAdded`) and forgets the noted rows: a batch with more
    /// index entries than memory may hold has too many unique values as well.
    func leaveToTheEnd() {
        isLeftToTheEnd = true
        rows = RowsByHash()
    }

    /// Finds two new rows of a table with the same unique values, and returns the constraint's index and one of the rows. Two such rows are
    /// neighbours in the index.
    /// - Complexity: O(new rows) for each constraint.
    func firstConflictAmongAdded(_ table: EntityTable) throws -> (index: TableIndex, holder: RowReference)? {
        for index in table.indexes where index.isUnique {
            var last: [UInt8] = []
            // The index treats nulls as equal; the constraint does not.
            var holder: RowReference?, isNull = false
            var found = false
            try transaction.forEachAddedEntry(of: index.id) { entry, row in
                if let holder, last.withUnsafeBytes({ KeyBytes.compare($0, entry) == 0 }) {
                    if isNull { return true }
                    found = try hasUniqueKey(holder, index, table)
                    isNull = !found
                    return !found
                }
                last.removeAll(keepingCapacity: true)
                last.append(contentsOf: entry)
                (holder, isNull) = (RowReference(table: table.id, row: row), false)
                return true
            }
            if found, let holder { return (index, holder) }
        }
        return nil
    }

    private func hasUniqueKey(_ reference: RowReference, _ index: TableIndex, _ table: EntityTable) throws -> Bool {
        guard let row = try transaction.unsafeRow(reference) else { return false }
        key.removeAll()
        return table.appendUniqueKey(of: row, index, to: key)
    }

    // MARK: Conflicts

    /// Returns the first constraint whose values another row has, and that row.
    /// - Parameter row: a row that the transaction writes next or has written.
    /// - Complexity: one look-up in each constraint's index.
    func conflict(of row: UnsafeRowView, _ table: EntityTable) throws -> (index: TableIndex, holder: RowReference)? {
        asked.removeAll(keepingCapacity: true)
        for position in table.uniqueIndexes.indices {
            let index = table.uniqueIndexes[position]
            if let holder = try index._withUnsafeGuaranteedRef({ try holder(of: row, $0, table) }) { return (index.takeUnretainedValue(), holder) }
        }
        return nil
    }

    /// Returns another row that has the values of one constraint.
    @inline(__always)
    private func holder(of row: UnsafeRowView, _ index: TableIndex, _ table: EntityTable) throws -> RowReference? {
        key.removeAll()
        guard table.appendUniqueKey(of: row, index, to: key) else { return nil }
        let hash = hash(index)
        asked.append(hash)
        if let holder = try rows.first(hash, where: { try $0 != row.reference && has($0, index) }) { return holder }
        if let holder = try stored(table.id, index.id, besides: row.reference) { return holder }
        for position in index.siblings.indices {
            let sibling = index.siblings[position]
            if let holder = try stored(sibling.table, sibling.index, besides: row.reference) { return holder }
        }
        return nil
    }

    private func stored(_ table: TableID, _ index: IndexID, besides own: RowReference) throws -> RowReference? {
        guard transaction.base.rowCount(table) > 0, let first = try transaction.base.firstRow(index, prefix: key) else { return nil }
        let reference = RowReference(table: table, row: first)
        if reference != own, !rewritten.contains(reference) { return reference }
        var cursor = try transaction.base.cursor(index, .prefix(key.bytes))
        while let found = try cursor.next() {
            let reference = RowReference(table: table, row: found)
            if reference != own, !rewritten.contains(reference) { return reference }
        }
        return nil
    }

    /// Whether a row has the unique values in `key`.
    private func has(_ reference: RowReference, _ index: TableIndex) throws -> Bool {
        guard let table = schema.table(reference.table), let row = try transaction.unsafeRow(reference),
            let same = table.indexes.first(where: { $0.isUnique && $0.constraint == index.constraint })
        else { return false }
        otherKey.removeAll()
        return table.appendUniqueKey(of: row, same, to: otherKey) && KeyBytes.compare(key.unsafeBuffer, otherKey.unsafeBuffer) == 0
    }

    private func hash(_ index: TableIndex) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(index.constraint)
        hasher.combine(bytes: key.unsafeBuffer)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
