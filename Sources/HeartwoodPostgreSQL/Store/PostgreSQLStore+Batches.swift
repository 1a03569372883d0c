import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

extension PostgreSQLStore: BatchStore {
    /// Executes a batch in one transaction, or in several if an insertion asks for that.
    package func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome {
        try checkIsNoHandler()
        switch batch {
        case .insert(let insertion):
            var outcome = outcome
            // The rows come from the program once, so such a transaction is not repeated.
            handlers.begin()
            defer { handlers.end() }
            while !insertion.rows.isAtEnd { outcome = try transaction(origin, outcome, isRepeated: false) { try $0.insert(insertion) } }
            return outcome
        case .update(let update): return try transaction(origin, outcome, isRepeated: true) { try $0.update(update) }
        case .delete(let target): return try transaction(origin, outcome, isRepeated: true) { try $0.delete(target) }
        }
    }

    /// - Throws: 134070 within a batch insertion of this thread: its handler may read, but a write would wait for the insertion's rows.
    func checkIsNoHandler() throws {
        guard handlers.isRunning else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The handler of a batch insertion writes to the store that it fills; write once the request is done.")
    }

    private func transaction(
        _ origin: TransactionOrigin, _ outcome: BatchOutcome, isRepeated: Bool, _ body: (inout BatchTransaction) throws -> Void
    ) throws -> BatchOutcome {
        let loaded = try open()
        var result = outcome, hasWritten = false
        do {
            try repeating(isRepeated ? Self.attemptsMax : 1) {
                try loaded.pool.withConnection { connection in
                    // The rows that the request reads stay as they are until it writes them, or the server reports that others changed them.
                    try connection.begin(PostgreSQLTransaction(.repeatableRead))
                    var transaction = BatchTransaction(loaded, connection, view(loaded, connection, RowCopies()), outcome)
                    try body(&transaction)
                    noteRecorded(try transaction.commit(origin))
                    (result, hasWritten) = (transaction.outcome, transaction.hasWritten)
                }
            }
        } catch {
            throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
        }
        if hasWritten {
            noteChange()
            postRemoteChange()
        }
        return result
    }
}
