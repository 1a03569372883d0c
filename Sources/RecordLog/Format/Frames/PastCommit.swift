/// Names a state of a store's past: the state after one of its commits.
public enum PastCommit: Sendable, Hashable {
    /// The commit of this number.
    case number(UInt64)
    /// The last commit at or before a time, in microseconds since 1970-01-01 UTC. The order of the commits counts: where the clock was set back,
    /// a commit with an earlier time may be later.
    case time(Int64)
}
