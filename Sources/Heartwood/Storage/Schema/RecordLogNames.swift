/// What tables and indexes are called inside a record log. Part of the format: FORMAT.md, "How the stack uses tables".
enum RecordLogNames {
    static func link(_ entity: String, _ relationship: String) -> String { "link:\(entity).\(relationship)" }
    static func reference(_ relationship: String) -> String { "reference:\(relationship)" }
    static func unique(_ attributes: [String]) -> String { "unique:\(attributes.joined(separator: ","))" }
    static func index(_ name: String) -> String { "index:\(name)" }
    static let linkForward = "forward"
    static let linkBackward = "backward"
    static let linkInverse = "inverse"
    /// No entity's: the transactions of the store's history.
    static let history = "history:transactions"
}

/// Rows of the system table that the stack owns.
enum RecordLogSystemRow {
    /// A binary property list: the store's metadata.
    static let metadata: UInt64 = 8
    /// The model's archive.
    static let model: UInt64 = 9
    /// The model's version checksum, in UTF-8: equal means that nothing else needs comparing.
    static let modelChecksum: UInt64 = 10
    /// There where derived attributes are due after a migration.
    static let pendingDerivations: UInt64 = 12
    /// Which transactions of the history are earlier than one before them (`HistoryFalls`).
    static let historyFalls: UInt64 = 13
}
