/// The progress of a compaction.
public struct CompactionProgress: Sendable {
    public var rowsDone: UInt64
    public var rowsTotal: UInt64
    /// Commits copied behind the rows: those of a history window, and those made since the compaction began.
    public var commits: UInt64
}
