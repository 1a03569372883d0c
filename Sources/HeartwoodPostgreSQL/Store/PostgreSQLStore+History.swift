import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import Synchronization

extension PostgreSQLStore: HistoryStore {
    /// The value of the tracking option; nil if it is not set.
    private var historyOption: Bool? {
        options?[NSPersistentHistoryTrackingKey] is NSDictionary ? true : Self.flag(NSPersistentHistoryTrackingKey, in: options)
    }

    package var recordsHistory: Bool { historyOption ?? false }

    /// Finds out whether the store keeps a history, and begins or ends it as the option says: one that it refuses ends if it is empty.
    func settleHistory(_ stored: StoredSchema, _ connection: PostgreSQLConnection, _ location: StoreLocation) throws -> Bool {
        let isKept = stored.values[StoreTables.Key.history] != nil
        guard !isReadOnly, let option = historyOption, option != isKept else { return isKept }
        if option {
            try connection.execute(
                PostgreSQLStatement(
                    "INSERT INTO \(location.table(StoreTables.values)) VALUES ('\(StoreTables.Key.history)', '0') ON CONFLICT DO NOTHING",
                    isPrepared: false))
            return true
        }
        let rows = try connection.execute(
            PostgreSQLStatement(
                "DELETE FROM \(location.table(StoreTables.values)) WHERE key = '\(StoreTables.Key.history)'"
                    + " AND NOT EXISTS (SELECT 1 FROM \(location.table(StoreTables.transactions)))", isPrepared: false))
        return rows.affectedRows == 0
    }

    func noteRecorded(_ number: Int64) {
        guard number > 0 else { return }
        recorded.max(number, ordering: .acquiringAndReleasing)
        if isWatched.load(ordering: .relaxed) { loaded?.known.noteOwn(number) }
    }

    /// Waits until what this store has written can be read: a transaction that runs and began earlier holds it back. A long one holds it back longer
    /// than this waits.
    package func newestHistory() throws -> (any StoreHistory)? {
        let history = try knownHistory(), number = recorded.load(ordering: .acquiring), end = ContinuousClock.now + .seconds(5)
        guard history != nil, number > 0 else { return history }
        let horizon = PostgreSQLStatement("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
        // The server tells nothing of the end of a transaction, so it is asked.
        while try read(horizon, PostgreSQLParameters()).int64(0, 0) <= number, ContinuousClock.now < end { usleep(500) }
        return history
    }

    package func knownHistory() throws -> (any StoreHistory)? {
        let loaded = try open()
        guard loaded.keepsHistory else { return nil }
        return PostgreSQLHistory(self, loaded.layout, path: loaded.location.shown, read)
    }

    package func deleteHistory(_ selection: HistorySelection, author: String?) throws {
        let loaded = try open(), values = loaded.location.table(StoreTables.values)
        let transactions = loaded.location.table(StoreTables.transactions)
        let (condition, time): (String, Double) = switch selection.times {
        case .any: ("true", 0)
        case .after(let bound): ("time > $3", bound)
        case .before(let bound): ("time < $3", bound)
        }
        for range in selection.ranges {
            var parameters = PostgreSQLParameters()
            parameters.addInt64(Int64(clamping: range.lowerBound))
            parameters.addInt64(Int64(clamping: range.upperBound))
            if condition != "true" { parameters.addDouble(time) }
            let text = "WITH gone AS (DELETE FROM \(transactions) WHERE number >= $1 AND number < $2 AND \(condition)"
                + " RETURNING number), newest AS (SELECT max(number) AS number FROM gone)"
                + " UPDATE \(values) SET value = convert_to(newest.number::text, 'UTF8') FROM newest"
                + " WHERE key = '\(StoreTables.Key.history)' AND newest.number > convert_from(value, 'UTF8')::bigint"
            do {
                _ = try loaded.pool.withConnection { try $0.execute(PostgreSQLStatement(text), parameters) }
            } catch {
                throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
            }
        }
    }
}
