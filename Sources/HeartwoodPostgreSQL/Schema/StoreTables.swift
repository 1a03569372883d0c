/// The tables that a store has beside those of its entities.
enum StoreTables {
    static let values = "heartwood_store", entities = "heartwood_entities"
    static let transactions = "heartwood_transactions", changes = "heartwood_changes"
    static let names: Set<String> = [values, entities, transactions, changes]

    /// The empty table whose name says which version of the model the tables are of. Each statement names it, so that a client which opened the
    /// store before a migration is refused by the server, and reads or writes nothing.
    static func marker(_ version: Int) -> String { markerPrefix + String(version) }
    static let markerPrefix = "heartwood_version_"

    /// The rows of `values`.
    enum Key {
        static let metadata = "metadata", model = "model", history = "history", version = "version", numbers = "numbers"
    }
}
