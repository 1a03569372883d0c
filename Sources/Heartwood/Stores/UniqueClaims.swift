import Foundation
import RecordLog

/// Checks uniqueness constraints while a batch is written: against the store before the batch, and within the batch.
///
/// A row of the store that the batch updates or deletes does not count as such; if it is updated, its new value is
/// claimed like any other.
struct UniqueClaims {
    private struct Claim: Hashable {
        let index: UInt16
        let key: [UInt8]
    }

    private var claimed: [Claim: RowReference] = [:]
    private let key = KeyBuilder()

    mutating func claim(
        body: UnsafeRawBufferPointer, layout: RowLayout, table: EntityTable, index: TableIndex, object: NSManagedObject,
        reference: RowReference, transaction: Transaction, touched: Set<RowReference>
    ) throws {
        guard let base = body.baseAddress else { return }
        let row = RowView(body: base, byteCount: body.count, reference: reference, version: 0)
        key.removeAll()
        for part in index.parts {
            guard let position = table.positions[part.property] else { return }
            let access = layout.access[position]
            // Null is equal to nothing, so it constrains nothing.
            guard !row.isNull(access) else { return }
            key.append(column: access, of: row, descending: !part.isAscending)
        }
        let claim = Claim(index: index.id.rawValue, key: key.bytes)
        if let other = claimed.updateValue(reference, forKey: claim), other != reference {
            throw conflict(object, table: table, index: index)
        }
        var cursor = try transaction.base.cursor(index.id, .prefix(claim.key))
        while let found = try cursor.next() {
            let holder = RowReference(table: table.id, row: found)
            if holder != reference, !touched.contains(holder) { throw conflict(object, table: table, index: index) }
        }
    }

    private func conflict(_ object: NSManagedObject, table: EntityTable, index: TableIndex) -> NSError {
        let names = index.parts.map { table.runtime.properties[$0.property].name }
        let values = index.parts.map { part in "\(object.value(at: part.property) ?? "nil")" }
        return CoreDataError.make(
            NSManagedObjectConstraintMergeError,
            "Another \(table.runtime.entity.name ?? "?") has the same \(names.joined(separator: ", ")): "
                + "\(values.joined(separator: ", ")). The model says that it is unique.",
            [NSAffectedObjectsErrorKey: [object]])
    }
}
