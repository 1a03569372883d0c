import Foundation
import RecordLog

extension RecordLogStore {
    /// Whether stores of this class can have a history. Stores that write another format than the log cannot.
    final var keepsHistory: Bool { savesTogether }

    /// The value of the tracking option; nil if it is not set.
    private var historyOption: Bool? {
        // Apple's frameworks accept a dictionary of tracking options here.
        options?[NSPersistentHistoryTrackingKey] is NSDictionary ? true : flag(NSPersistentHistoryTrackingKey)
    }

    /// Makes the history of a new store, in the commit that makes the store.
    final func beginHistory(in transaction: Transaction) throws {
        if keepsHistory, historyOption == true { _ = try HistoryTable.define(in: transaction) }
    }

    /// Begins a history that the options ask for and the store lacks; ends one that they refuse and that is empty. Commits only if there is
    /// something to do.
    final func prepareHistory(_ log: LogStore) throws {
        let option = historyOption
        history.begin(isEnabled: keepsHistory && option == true)
        guard keepsHistory, !isReadOnly, let option, try needsHistoryChange(option, log.snapshot()) else { return }
        try log.write { transaction in
            guard try needsHistoryChange(option, transaction.base) else { return }
            if option { _ = try HistoryTable.define(in: transaction) } else if let table = try HistoryTable(transaction.catalog) {
                try transaction.dropTable(table.id)
            }
        }
    }

    private func needsHistoryChange(_ option: Bool, _ snapshot: Snapshot) throws -> Bool {
        guard let table = try HistoryTable(snapshot.catalog) else { return option }
        return !option && snapshot.rowCount(table.id) == 0
    }

    /// Writes the transaction's changes into the store's history, if it has one. Call it after everything else is written.
    /// - Parameter assigned: the properties that a batch request has set.
    final func recordHistory(
        of transaction: Transaction, _ schema: RecordLogSchema, assigned: [String] = [], _ origin: TransactionOrigin
    ) throws {
        guard keepsHistory, let table = try history.table(for: transaction) else { return }
        var recorder = HistoryRecorder(transaction: transaction, schema: schema, assigned: assigned)
        try recorder.record(in: table, origin, at: history.now)
    }

    /// The history as of the newest commit; nil if the store has none.
    final func newestLogHistory() throws -> HistoryReader? {
        if keepsHistory { try follow() }
        return try knownLogHistory()
    }

    /// The history as of the newest commit that this handle knows; nil if the store has none.
    final func knownLogHistory() throws -> HistoryReader? {
        guard keepsHistory else { return nil }
        let view = try newestLogView()
        guard let table = try history.table(in: view.snapshot.catalog) else { return nil }
        return HistoryReader(table, view, of: self)
    }
}
