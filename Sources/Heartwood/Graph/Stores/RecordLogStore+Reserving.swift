import Foundation
import RecordLog

extension RecordLogStore {
    /// Reserves row numbers in one commit. The log has no record for a reserved number, and needs none: a row that is put and deleted in the same
    /// commit uses the number up.
    final func reserve(_ runtimes: [EntityRuntime]) throws -> [ObjectKey] {
        let loaded = try loaded()
        do {
            return try loaded.log.write { transaction in
                try checkVersion(of: transaction.base, loaded)
                let builder = RowBuilder()
                var keys: [ObjectKey] = []
                for runtime in runtimes {
                    let table = try loaded.schema.table(of: runtime, slotBase: slotBase)
                    let row = try transaction.newRow(in: table.id)
                    builder.begin(table.layout)
                    let reference = RowReference(table: table.id, row: row)
                    try transaction.put(reference, body: builder.unsafeBody())
                    _ = try transaction.delete(reference)
                    keys.append(ObjectKey(slot: runtime.slot, row: row))
                }
                try finish(transaction, nil, hasWritten: !keys.isEmpty)
                commits.note(base: transaction.base.sequence, isFollowed: !keys.isEmpty)
                return keys
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }
}
