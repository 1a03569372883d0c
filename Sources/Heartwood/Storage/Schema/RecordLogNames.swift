/// The names of tables and indexes in a record log. Part of the format: docs/format/stack.md.
enum RecordLogNames {
    static func link(_ entity: String, _ relationship: String) -> String { "link:\(entity).\(relationship)" }
    static func reference(_ relationship: String) -> String { "reference:\(relationship)" }
    static func unique(_ attributes: [String]) -> String { "unique:" + PlainText.joined(attributes, by: ",") }
    static func index(_ name: String) -> String { "index:\(name)" }
    static let linkForward = "forward"
    static let linkBackward = "backward"
    static let linkInverse = "inverse"
    /// The table of the history's transactions. No entity can have this name.
    static let history = "history:transactions"
}

/// The system table's rows that belong to the stack.
package enum RecordLogSystemRow {
    /// A binary property list: the store's metadata.
    static let metadata: UInt64 = 8
    /// The model's archive.
    static let model: UInt64 = 9
    /// The model's version checksum in UTF-8. Where it is equal, nothing else is compared.
    static let modelChecksum: UInt64 = 10
    /// Exists while derived attributes must be computed after a migration.
    static let pendingDerivations: UInt64 = 12
    /// The transactions of the history that are earlier than the one before them (`HistoryFalls`).
    package static let historyFalls: UInt64 = 13
}
