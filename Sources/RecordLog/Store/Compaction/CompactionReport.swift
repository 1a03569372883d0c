/// The result of a compaction.
public struct CompactionReport: Sendable, Equatable {
    /// The log's size when the new file took its path.
    public var bytesBefore: UInt64
    public var bytesAfter: UInt64
    /// Rows as of the newest commit.
    public var rows: UInt64
    /// Commits copied behind the rows: those of a history window, and those made since the compaction began.
    public var commits: UInt64
    /// The processes that still have the old file open, including this one if it holds a snapshot of it. The old file's space becomes free
    /// once the last of them closes it. Limited to the processes that this one may inspect; nil if the system does not report them, or the
    /// caller did not ask.
    public var holders: [FileHolder]?
}

/// The progress of a compaction.
public struct CompactionProgress: Sendable {
    public var rowsDone: UInt64
    public var rowsTotal: UInt64
    /// Commits copied behind the rows: those of a history window, and those made since the compaction began.
    public var commits: UInt64
}
