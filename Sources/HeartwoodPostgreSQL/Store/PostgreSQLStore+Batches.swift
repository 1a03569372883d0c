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
        var made: BatchTransaction?
        do {
            let lost = try transact(loaded, isRepeated ? Self.attemptsMax : 1) { connection, trace in
                var transaction = BatchTransaction(loaded, connection, view(loaded, connection, RowCopies()), outcome)
                defer { made = transaction }
                try transaction.begin(trace)
                try body(&transaction)
                try transaction.commit(origin, trace)
            }
            noteRecorded(lost ?? made?.recordedNumber ?? 0)
        } catch {
            throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
        }
        if made?.hasWritten == true {
            noteChange()
            noteCommit()
        }
        return made?.outcome ?? outcome
    }
}
