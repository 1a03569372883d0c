/// The tables that a store has beside those of its entities.
enum StoreTables {
    static let values = "heartwood_store", entities = "heartwood_entities"
    static let transactions = "heartwood_transactions", changes = "heartwood_changes"
    static let names: Set<String> = [values, entities, transactions, changes]

    /// The rows of `values`.
    enum Key {
        static let metadata = "metadata", model = "model", layout = "layout", history = "history"
    }
}
