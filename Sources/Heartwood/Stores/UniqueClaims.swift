import Foundation
import RecordLog

/// Checks uniqueness constraints while a batch is written: against the store before the batch, and within the batch.
///
/// A row of the store that the batch writes or deletes does not count as such; if it is written, its new value is claimed like
/// any other. Breaches are gathered, so that a merge policy sees all of them at once.
struct UniqueClaims {
    private struct Claim: Hashable {
        let index: UInt16
        let key: [UInt8]
    }

    private var claimed: [Claim: NSManagedObject] = [:]
    private var released: Set<RowReference> = []
    private var breaches: [Claim: ConstraintViolations.Violation] = [:]
    private var order: [Claim] = []
    private let key = KeyBuilder()

    /// The breaches so far, in the order in which they were met; nil without any.
    var violations: ConstraintViolations? {
        order.isEmpty ? nil : ConstraintViolations(list: order.compactMap { breaches[$0] })
    }

    /// Says that the batch writes or deletes this row of the store.
    mutating func release(_ reference: RowReference) {
        released.insert(reference)
    }

    /// Takes the unique values of a row that is about to be written.
    mutating func claim(
        body: UnsafeRawBufferPointer, table: EntityTable, index: TableIndex, object: NSManagedObject, reference: RowReference,
        transaction: Transaction
    ) throws {
        guard let base = body.baseAddress else { return }
        let row = RowView(body: base, byteCount: body.count, reference: reference, version: 0)
        key.removeAll()
        for part in index.parts {
            guard let position = table.positions[part.property] else { return }
            let access = table.layout.access[position]
            // Null is equal to nothing, so it constrains nothing.
            guard !row.isNull(access) else { return }
            key.append(column: access, of: row, descending: !part.isAscending)
        }
        let claim = Claim(index: index.relatives.reduce(index.id.rawValue) { min($0, $1.index.rawValue) }, key: key.bytes)
        let rival = claimed.updateValue(object, forKey: claim)
        if let rival, rival !== object { note(claim, [rival, object], table, index) }
        let slotBase = UInt64(table.runtime.slot &- table.id.rawValue) << 48
        try findHolders(table.id, index.id)
        for relative in index.relatives { try findHolders(relative.table, relative.index) }

        func findHolders(_ holders: TableID, _ id: IndexID) throws {
            var cursor = try transaction.base.cursor(id, .prefix(claim.key))
            while let found = try cursor.next() {
                let holder = RowReference(table: holders, row: found)
                guard holder != reference, !released.contains(holder) else { continue }
                note(claim, [object], table, index)
                breaches[claim]?.holder = ObjectKey(rawValue: holder.rawValue &+ slotBase)
            }
        }
    }

    private mutating func note(_ claim: Claim, _ objects: [NSManagedObject], _ table: EntityTable, _ index: TableIndex) {
        if breaches[claim] == nil {
            order.append(claim)
            let names = index.parts.map { table.runtime.properties[$0.property].name }
            breaches[claim] = ConstraintViolations.Violation(attributes: names, objects: [])
        }
        for object in objects where breaches[claim]?.objects.contains(where: { $0 === object }) == false {
            breaches[claim]?.objects.append(object)
        }
    }
}
