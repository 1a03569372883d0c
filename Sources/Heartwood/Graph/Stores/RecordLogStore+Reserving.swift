import Foundation
import RecordLog

extension RecordLogStore {
    /// Takes row numbers that nobody else gets, in one commit. A number is taken by a row that comes and goes in the same commit: the
    /// log has no other way to say that a number was given out, and needs none.
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
                    try transaction.put(reference, body: builder.finish())
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
