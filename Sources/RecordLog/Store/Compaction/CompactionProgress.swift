/// How far a compaction is.
public struct CompactionProgress: Sendable {
    public var rowsDone: UInt64
    public var rowsTotal: UInt64
    /// Commits that were copied behind the rows: those of a history window, and those made since it began.
    public var commits: UInt64
}
