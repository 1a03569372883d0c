import Synchronization

/// Counts of a handle's operations since it was opened.
public struct StoreStatistics: Sendable, Equatable {
    public var rowReads: UInt64 = 0
    public var framesAppended: UInt64 = 0
    public var bytesAppended: UInt64 = 0
    public var syncs: UInt64 = 0
    public var checkpoints: UInt64 = 0
    /// Bytes of log after the newest checkpoint that opening read, and of rows and entries of indexes that it built whole.
    public var bytesReplayed: UInt64 = 0
    /// Reads of a file that is not mapped, and the bytes that they returned. Reads of the header at opening are not counted.
    public var reads: UInt64 = 0
    public var bytesRead: UInt64 = 0

    package init() {}
}

/// Counts for `StoreStatistics`, from any thread.
package final class Counters: Sendable {
    private let rowReads = Atomic<UInt64>(0)
    private let framesAppended = Atomic<UInt64>(0)
    private let bytesAppended = Atomic<UInt64>(0)
    private let syncs = Atomic<UInt64>(0)
    private let checkpoints = Atomic<UInt64>(0)
    private let bytesReplayed = Atomic<UInt64>(0)
    private let reads = Atomic<UInt64>(0)
    private let bytesRead = Atomic<UInt64>(0)

    /// Counts without a locked instruction, so two reads that race may count as one.
    @inline(__always)
    func rowRead() { rowReads.store(rowReads.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    @inline(__always)
    package func rowsRead(_ count: Int) { rowReads.store(rowReads.load(ordering: .relaxed) &+ UInt64(count), ordering: .relaxed) }

    func appended(frames: Int, bytes: Int) {
        framesAppended.wrappingAdd(UInt64(frames), ordering: .relaxed)
        bytesAppended.wrappingAdd(UInt64(bytes), ordering: .relaxed)
    }

    func synced() { syncs.wrappingAdd(1, ordering: .relaxed) }
    func checkpointed() { checkpoints.wrappingAdd(1, ordering: .relaxed) }
    func replayed(bytes: UInt64) { bytesReplayed.wrappingAdd(bytes, ordering: .relaxed) }

    func read(bytes: Int) {
        reads.wrappingAdd(1, ordering: .relaxed)
        bytesRead.wrappingAdd(UInt64(bytes), ordering: .relaxed)
    }

    var values: StoreStatistics {
        var values = StoreStatistics()
        values.rowReads = rowReads.load(ordering: .relaxed)
        values.framesAppended = framesAppended.load(ordering: .relaxed)
        values.bytesAppended = bytesAppended.load(ordering: .relaxed)
        values.syncs = syncs.load(ordering: .relaxed)
        values.checkpoints = checkpoints.load(ordering: .relaxed)
        values.bytesReplayed = bytesReplayed.load(ordering: .relaxed)
        values.reads = reads.load(ordering: .relaxed)
        values.bytesRead = bytesRead.load(ordering: .relaxed)
        return values
    }
}
