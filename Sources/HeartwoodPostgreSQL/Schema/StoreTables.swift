import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// The tables that a store has beside those of its entities.
enum StoreTables {
    static let values = "heartwood_store", entities = "heartwood_entities"
    static let transactions = "heartwood_transactions", changes = "heartwood_changes"
    static let crashMark = "heartwood_crash_mark"
    static let names: Set<String> = [values, entities, transactions, changes, crashMark]

    /// The empty table whose name says which version of the model the tables are of. Each statement names it, so that a client which opened the
    /// store before a migration is refused by the server, and reads or writes nothing.
    static func marker(_ version: Int) -> String { markerPrefix + String(version) }
    static let markerPrefix = "heartwood_version_"

    /// The rows of `values`.
    enum Key {
        static let metadata = "metadata", model = "model", history = "history", version = "version", numbers = "numbers"
        /// A conversion that is not complete has a value of this key, and others whose keys begin with it.
        static let conversion = "conversion"
    }
}

extension StoreTables {
    /// The rows of `values` that every store has.
    static func values(_ metadata: [String: Any], _ model: NSManagedObjectModel, version: Int = 1) throws -> [String: Data] {
        [
            Key.metadata: Data(try RecordLogMetadata.encode(metadata)), Key.model: Data(try model.archivedBytes()), Key.version: Data("\(version)".utf8),
        ]
    }

    /// Adds statements that set rows of `values`.
    static func set(_ values: [String: Data], in location: StoreLocation, to batch: inout PostgreSQLBatch) throws {
        let statement = PostgreSQLStatement(
            "INSERT INTO \(location.table(Self.values)) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value", isPrepared: false)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            var parameters = PostgreSQLParameters()
            try parameters.addText(key)
            try parameters.addBytes(value)
            batch.add(statement, parameters)
        }
    }
}
