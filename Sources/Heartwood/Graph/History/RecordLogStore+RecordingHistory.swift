import Foundation
import RecordLog

extension RecordLogStore {
    /// Whether stores of this class can have a history: not where something else is written than the log.
    final var keepsHistory: Bool { savesTogether }

    /// What the options say of tracking; nil for nothing.
    private var historyOption: Bool? {
        // Apple's frameworks take options of tracking here.
        options?[NSPersistentHistoryTrackingKey] is NSDictionary ? true : flag(NSPersistentHistoryTrackingKey)
    }

    /// Makes the history of a new store, in the commit that makes the store.
    final func beginHistory(in transaction: Transaction) throws {
        if keepsHistory, historyOption == true { _ = try HistoryTable.define(in: transaction) }
    }

    /// Begins a history that is wanted and not there, and ends one that is not wanted and was deleted: in one commit, and otherwise in none.
    final func prepareHistory(_ log: LogStore) throws {
        let option = historyOption
        history.begin(isWanted: keepsHistory && option == true)
        guard keepsHistory, !isReadOnly, let option, try isOutOfPlace(option, log.snapshot()) else { return }
        try log.write { transaction in
            guard try isOutOfPlace(option, transaction.base) else { return }
            if option { _ = try HistoryTable.define(in: transaction) } else if let table = try HistoryTable(transaction.catalog) {
                try transaction.dropTable(table.id)
            }
        }
    }

    private func isOutOfPlace(_ option: Bool, _ snapshot: Snapshot) throws -> Bool {
        guard let table = try HistoryTable(snapshot.catalog) else { return option }
        return !option && snapshot.rowCount(table.id) == 0
    }

    /// Writes what a transaction has changed into its history, where the store has one. Called when everything else is written.
    /// - Parameter stated: the properties that a batch request has set.
    final func recordHistory(
        of transaction: Transaction, _ schema: RecordLogSchema, stated: [String] = [], _ origin: TransactionOrigin
    ) throws {
        guard keepsHistory, let table = try history.table(for: transaction) else { return }
        var recorder = HistoryRecorder(transaction: transaction, schema: schema, stated: stated)
        try recorder.record(in: table, origin, at: history.now)
    }

    /// The history as of the newest commit; nil where the store has none.
    final func newestHistory() throws -> HistoryReader? {
        if keepsHistory { try follow() }
        return try knownHistory()
    }

    /// The same of the newest commit that this handle knows.
    final func knownHistory() throws -> HistoryReader? {
        guard keepsHistory else { return nil }
        guard let view = try newestView() as? RecordLogView, let table = try history.table(in: view.snapshot.catalog) else { return nil }
        return HistoryReader(table, view, of: self)
    }
}
