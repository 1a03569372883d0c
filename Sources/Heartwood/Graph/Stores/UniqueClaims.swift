import Foundation
import RecordLog

/// Checks uniqueness constraints after a batch was written: against the store before the batch, and within the batch.
///
/// A stored row that the batch deletes, or gives other unique values, does not count; its new values are claimed like all others. Violations are
/// gathered, so that a merge policy sees all of them at once. Claims are sorted first, so that the store's index is read in its own order and equal
/// claims are neighbours.
struct UniqueClaims {
    /// The unique values that one row claims.
    private struct Claim {
        /// The constraint, by its first index among related tables.
        let constraint: UInt16
        /// The key's first bytes, which decide most comparisons.
        let head: UInt64
        /// The key's range in `keys`; later claims have higher ranges.
        let key: Range<Int>
        /// Unretained: the schema and the batch retain them.
        let index: Unmanaged<TableIndex>
        let table: Unmanaged<EntityTable>
        let object: Unmanaged<NSManagedObject>
    }

    private var claims: [Claim] = []
    /// All keys, one after the other.
    private let keys = KeyBuilder()
    private var released: Set<RowReference> = []

    /// Notes that the batch deletes this stored row, or claims all its unique values anew.
    mutating func release(_ reference: RowReference) {
        released.insert(reference)
    }

    /// Claims the unique values of a row that is about to be written.
    mutating func claim(_ row: UnsafeRowView, of object: NSManagedObject, table: EntityTable) {
        for position in table.uniqueIndexes.indices {
            let index = table.uniqueIndexes[position], start = keys.count
            guard index._withUnsafeGuaranteedRef({ table.appendUniqueKey(of: row, $0, to: keys) }) else {
                keys.truncate(to: start)
                continue
            }
            let key = start..<keys.count
            claims.append(Claim(
                constraint: index._withUnsafeGuaranteedRef(\.constraint), head: KeyBytes.word(bytes(key)), key: key, index: index,
                table: .passUnretained(table), object: .passUnretained(object)))
        }
    }

    private func bytes(_ key: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: keys.unsafeBuffer[key]) }

    // MARK: Checking

    /// - Throws: `ConstraintViolations` with the violations in the order in which they were claimed.
    /// - Complexity: O(n log n) for n claims, and one lookup each in the constraint's indexes.
    mutating func check(_ transaction: Transaction) throws {
        sort()
        var violations: [(keyStart: Int, violation: ConstraintViolations.Violation)] = []
        var start = 0
        while start < claims.count {
            var end = start + 1
            while end < claims.count, areEqual(claims[start], claims[end]) { end += 1 }
            let holder = try holder(of: claims[start], transaction)
            if holder != nil || end > start + 1 {
                let claim = claims[start], table = claim.table.takeUnretainedValue()
                let names = table.names(of: claim.index.takeUnretainedValue())
                let objects = claims[start..<end].map { $0.object.takeUnretainedValue() }
                violations.append((claim.key.lowerBound, .init(attributes: names, holder: holder, objects: objects)))
            }
            start = end
        }
        guard violations.isEmpty else {
            throw ConstraintViolations(list: violations.sorted { $0.keyStart < $1.keyStart }.map(\.violation))
        }
    }

    private mutating func sort() {
        let keys = keys.unsafeBuffer
        claims.sort { a, b in
            if a.constraint != b.constraint { return a.constraint < b.constraint }
            if a.head != b.head { return a.head < b.head }
            let order = KeyBytes.compare(UnsafeRawBufferPointer(rebasing: keys[a.key]), UnsafeRawBufferPointer(rebasing: keys[b.key]))
            return order == 0 ? a.key.lowerBound < b.key.lowerBound : order < 0
        }
    }

    private func areEqual(_ a: Claim, _ b: Claim) -> Bool {
        a.constraint == b.constraint && a.head == b.head && KeyBytes.compare(bytes(a.key), bytes(b.key)) == 0
    }

    /// The stored row that has the values of a claim and keeps them.
    private func holder(of claim: Claim, _ transaction: Transaction) throws -> ObjectKey? {
        let table = claim.table.takeUnretainedValue(), index = claim.index.takeUnretainedValue()
        if let found = try holder(bytes(claim.key), table.id, index.id, transaction) { return key(found, table) }
        for sibling in index.siblings {
            if let found = try holder(bytes(claim.key), sibling.table, sibling.index, transaction) { return key(found, table) }
        }
        return nil
    }

    private func key(_ reference: RowReference, _ table: EntityTable) -> ObjectKey {
        ObjectKey(rawValue: reference.rawValue &+ UInt64(table.runtime.slot &- table.id.rawValue) << 48)
    }

    private func holder(
        _ key: UnsafeRawBufferPointer, _ table: TableID, _ index: IndexID, _ transaction: Transaction
    ) throws -> RowReference? {
        guard let first = try transaction.base.firstRow(index, prefix: key) else { return nil }
        let reference = RowReference(table: table, row: first)
        guard released.contains(reference) else { return reference }
        var cursor = try transaction.base.cursor(index, .prefix(Array(key)))
        while let found = try cursor.next() {
            let reference = RowReference(table: table, row: found)
            if !released.contains(reference) { return reference }
        }
        return nil
    }
}
