/// The newest commits of a log, or transactions of a history.
struct ReportTimeline: Encodable {
    struct Change: Encodable {
        var name: String
        var written: Int
        var deleted: Int
    }

    struct Point: Encodable {
        var number: UInt64
        /// Milliseconds since 1970-01-01 UTC.
        var time: Double
        /// nil for a transaction.
        var bytes: UInt64?
        var author: String?
        var changes: [Change]
    }

    /// "commit" or "transaction".
    var noun: String
    /// The newest first.
    var points: [Point]
    /// Whether older ones are left out.
    var isCut: Bool
    /// The reason why the list ends early.
    var failure: String?
}
