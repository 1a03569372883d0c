/// The commits that a compaction keeps as commits of their own, with number, time, author and changes. The window reaches back as far as the
/// store's file has commits: an earlier compaction without a window has left none.
public enum HistoryWindow: Sendable, Equatable {
    /// No commits, only the newest state.
    case none
    /// This many of the newest commits.
    case commits(Int)
    /// The first commit made at this time or later, and all after it. In microseconds since 1970-01-01 UTC.
    case since(Int64)
}
