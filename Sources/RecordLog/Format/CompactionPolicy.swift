/// Decides after a commit or a checkpoint whether the store compacts itself, on a separate thread, beside readers and writers.
public struct CompactionPolicy: Sendable, Equatable {
    /// The least part of the log, from 0 to 1, that the newest commit must not need.
    public var deadRatio: Double
    /// The least size of a log that is compacted.
    public var minimumBytes: UInt64

    public init(deadRatio: Double = 0.5, minimumBytes: UInt64 = 64 << 20) {
        self.deadRatio = deadRatio
        self.minimumBytes = minimumBytes
    }

    func isDue(logBytes: UInt64, usedBytes: UInt64) -> Bool {
        guard logBytes >= minimumBytes, logBytes > usedBytes else { return false }
        return Double(logBytes - usedBytes) >= Double(logBytes) * deadRatio
    }
}
