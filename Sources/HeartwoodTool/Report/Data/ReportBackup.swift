/// A line of commits in a backup.
struct ReportBackup: Encodable {
    struct Archive: Encodable {
        var isBase: Bool
        var isSound: Bool
        var first: UInt64
        var last: UInt64
        var bytes: UInt64
        /// Milliseconds since 1970-01-01 UTC.
        var from: Double
        var to: Double
    }

    var store: String
    var lineage: String
    /// As `backup list` says it.
    var restorable: String
    var gaps: [String]
    var archives: [Archive]
    /// Older archives that are left out.
    var more: Int
}
