/// The newest commits of a log, or transactions of a history.
struct ReportTimeline: Encodable {
    struct Change: Encodable {
        var name: String
        var written: Int
        var deleted: Int
    }

    struct Object: Encodable {
        /// As `ReportRows.Row.id`.
        var id: String
        /// "inserted", "updated", "deleted", or "written" where a log does not tell the first two from each other.
        var kind: String
        /// Those that were updated, where a history says so.
        var properties: [String] = []
    }

    struct Point: Encodable {
        var number: UInt64
        /// Milliseconds since 1970-01-01 UTC.
        var time: Double
        /// nil for a transaction.
        var bytes: UInt64?
        var author: String?
        /// The rows of a commit whose changes were not read, since it is large.
        var rows: Int?
        var changes: [Change]
        /// The first ones that it changed; nil for an older commit.
        var objects: [Object]?
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
