/// When a store that is written to compacts itself, on a thread of its own, beside readers and writers.
public struct CompactionPolicy: Sendable, Equatable {
    /// How much of the log must be of no use to the newest commit: from 0 to 1.
    public var deadRatio: Double
    /// A smaller log is left alone.
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
