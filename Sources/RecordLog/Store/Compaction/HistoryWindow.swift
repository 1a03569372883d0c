/// Which commits a compaction keeps as commits of their own, with number, time, author and changes. As far back as the
/// store's file has them: an earlier compaction without a window has left none.
public enum HistoryWindow: Sendable, Equatable {
    /// The newest state alone.
    case none
    /// As many of the newest commits.
    case commits(Int)
    /// From the first commit on that was made at this time or later: microseconds since 1970-01-01 UTC.
    case since(Int64)
}
