import Foundation
import RecordLog

/// Who has the unique values of a row, in the middle of a transaction that writes many.
///
/// The store's rows are found by their constraints' indexes. Those that the transaction has written are found by a hash of their
/// values, 16 bytes each, and compared as they lie in the log: a batch keeps no key.
///
/// Invariants:
/// 1. The number of places is 0 or a power of two, and a quarter of them is free, so that a search ends.
/// 2. A free place has the reference 0, which no row has.
/// 3. Every unique value of a row that was noted has a place; values that the row has no more may have one too.
final class BatchUniqueness {
    private let transaction: Transaction
    private let schema: RecordLogSchema
    @exclusivity(unchecked) private var places: [(hash: UInt64, reference: RowReference)] = []
    @exclusivity(unchecked) private var count = 0
    /// Rows of the store that were written: what the store's indexes say of them is old.
    private var rewritten: Set<RowReference> = []
    /// The hashes of the values of the row that `conflict` was asked about last.
    @exclusivity(unchecked) private var asked: [UInt64] = []
    /// Something of every place that `prepare` has read, so that it is.
    @exclusivity(unchecked) private var seen: UInt64 = 0
    /// Of the table that was asked about last.
    @exclusivity(unchecked) private var hasStored: (table: TableID, answer: Bool)?
    private let key = KeyBuilder()
    private let otherKey = KeyBuilder()

    init(_ batch: RecordLogBatch) {
        transaction = batch.transaction
        schema = batch.schema
    }

    /// Says that this row was written.
    /// - Parameter isNew: whether the transaction has inserted it.
    func note(_ row: RowView, _ table: EntityTable, isNew: Bool) {
        if !isNew { rewritten.insert(row.reference) }
        asked.removeAll(keepingCapacity: true)
        addHashes(of: row, table, to: &asked)
        noteWritten(row.reference)
    }

    /// Says that the row that `conflict` was asked about last, and found none for, was written.
    func noteWritten(_ reference: RowReference) {
        for place in asked.indices { insert(asked[place], reference) }
    }

    // MARK: Groups

    /// Adds a hash of each of a row's unique values to a list.
    func addHashes(of row: RowView, _ table: EntityTable, to list: inout [UInt64]) {
        for place in table.uniqueIndexes.indices {
            table.uniqueIndexes[place]._withUnsafeGuaranteedRef { index in
                key.removeAll()
                if table.appendUniqueKey(of: row, index, to: key) { list.append(hash(index)) }
            }
        }
    }

    /// Makes room for hashes, and reads where each of them would be, side by side.
    func prepare(_ hashes: [UInt64]) {
        while (count + hashes.count) * 4 > places.count * 3 { grow() }
        for hash in hashes { seen ^= places[Int(truncatingIfNeeded: hash) & (places.count - 1)].hash }
    }

    /// Whether `conflict` may find one for a row that has these hashes, of which there are some in a list.
    func mayHold(_ hashes: [UInt64], _ range: Range<Int>, _ table: EntityTable) -> Bool {
        guard !hasStoredRows(table) else { return true }
        for number in range {
            var place = Int(truncatingIfNeeded: hashes[number]) & (places.count - 1)
            while !places[place].reference.isNone {
                if places[place].hash == hashes[number] { return true }
                place = (place + 1) & (places.count - 1)
            }
        }
        return false
    }

    /// Says that a row with these hashes was inserted.
    func note(_ hashes: [UInt64], _ range: Range<Int>, _ reference: RowReference) {
        for number in range { insert(hashes[number], reference) }
    }

    /// Whether the store has rows among which a value may be taken.
    private func hasStoredRows(_ table: EntityTable) -> Bool {
        if let known = hasStored, known.table == table.id { return known.answer }
        var answer = transaction.base.rowCount(table.id) > 0
        for index in table.indexes where index.isUnique {
            for relative in index.relatives where transaction.base.rowCount(relative.table) > 0 { answer = true }
        }
        hasStored = (table.id, answer)
        return answer
    }

    // MARK: Conflicts

    /// The first constraint whose values another row has.
    /// - Parameter row: about to be written, or written.
    /// - Complexity: a look-up in each of the constraints' indexes.
    func conflict(of row: RowView, _ table: EntityTable) throws -> (index: TableIndex, holder: RowReference)? {
        asked.removeAll(keepingCapacity: true)
        for place in table.uniqueIndexes.indices {
            let index = table.uniqueIndexes[place]
            if let holder = try index._withUnsafeGuaranteedRef({ try holder(of: row, $0, table) }) { return (index.takeUnretainedValue(), holder) }
        }
        return nil
    }

    /// Another row that has the values of one constraint.
    @inline(__always)
    private func holder(of row: RowView, _ index: TableIndex, _ table: EntityTable) throws -> RowReference? {
        key.removeAll()
        guard table.appendUniqueKey(of: row, index, to: key) else { return nil }
        let hash = hash(index)
        asked.append(hash)
        if let holder = try written(hash, index, besides: row.reference) { return holder }
        if let holder = try stored(table.id, index.id, besides: row.reference) { return holder }
        for place in index.relatives.indices {
            let relative = index.relatives[place]
            if let holder = try stored(relative.table, relative.index, besides: row.reference) { return holder }
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

    private func written(_ hash: UInt64, _ index: TableIndex, besides own: RowReference) throws -> RowReference? {
        guard count > 0 else { return nil }
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while !places[place].reference.isNone {
            let (known, reference) = places[place]
            if known == hash, reference != own, try has(reference, index) { return reference }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    /// Whether a row has the values in `key`.
    private func has(_ reference: RowReference, _ index: TableIndex) throws -> Bool {
        guard let table = schema.table(reference.table), let row = try transaction.row(reference),
            let same = table.indexes.first(where: { $0.isUnique && $0.constraint == index.constraint })
        else { return false }
        otherKey.removeAll()
        return table.appendUniqueKey(of: row, same, to: otherKey) && KeyBytes.compare(key.buffer, otherKey.buffer) == 0
    }

    private func hash(_ index: TableIndex) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(index.constraint)
        hasher.combine(bytes: key.buffer)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func insert(_ hash: UInt64, _ reference: RowReference) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while !places[place].reference.isNone {
            if places[place] == (hash, reference) { return }
            place = (place + 1) & (places.count - 1)
        }
        places[place] = (hash, reference)
        count += 1
    }

    private func grow() {
        let old = places
        places = Array(repeating: (0, RowReference(rawValue: 0)), count: max(16, old.count * 2))
        count = 0
        for (hash, reference) in old where !reference.isNone { insert(hash, reference) }
    }
}
