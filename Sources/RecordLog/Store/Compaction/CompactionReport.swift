/// What a compaction did.
public struct CompactionReport: Sendable, Equatable {
    /// Of the log, when the new file took its place.
    public var bytesBefore: UInt64
    public var bytesAfter: UInt64
    /// As of the newest commit.
    public var rows: UInt64
    /// Commits that were copied behind the rows: those of a history window, and those made since it began.
    public var commits: UInt64
    /// The processes that still have the old file open, this one among them where a snapshot of it is held: its space comes
    /// free once the last of them lets go. As far as this process may look; nil where the system does not tell, or nobody asked.
    public var holders: [FileHolder]?
}
