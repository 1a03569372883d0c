/// Merges runs of one index into one run on disk, and keeps the runs that stay beside it.
struct RunMerge: Sendable {
    let runs: RunSet
    /// Runs older than `runs`; empty if everything becomes the base.
    let kept: [SortedRun]
    /// Whether the new run's blocks are packed.
    let isPacked: Bool

    var entryCount: UInt64 { UInt64(runs.freshEntryCount) + runs.diskEntryCount }
    /// The approximate number of bytes that are written.
    var byteCount: UInt64 { UInt64(runs.freshByteCount) + runs.diskByteCount }

    /// Appends the new run's blocks to a sink; its root must follow.
    /// - Parameter check: called from time to time; an error that it throws ends the merge.
    func write(to sink: any FrameSink, _ check: () throws(StoreError) -> Void = {}) throws(StoreError) -> FlushedRuns {
        var writer = RunWriter(sink: sink, entryCount: entryCount, isPacked: isPacked)
        if let base = runs.onlyRun, kept.isEmpty {
            // The base has no tombstones.
            let root = try base.blocks()
            for index in 0..<root.count {
                if index % 64 == 0 { try check() }
                try writer.append(try base.block(root.pointer(index)), separator: root.wholeSeparator(index))
            }
        } else {
            let merged = try runs.merged(keepsTombstones: !kept.isEmpty)
            var count = 0
            while try merged.next() {
                if count % 8192 == 0 { try check() }
                count &+= 1
                try writer.append(merged.entry, isTombstone: merged.isTombstone)
            }
        }
        return FlushedRuns(new: try writer.finish(), kept: kept)
    }
}

/// Chooses the runs that are merged. Each run is larger than the newer ones, so that a look-up reads few runs after any number of
/// checkpoints, and an entry is rewritten O(log n) times in all.
extension RunSet {
    /// The larger a run must be to stay, the more often entries are rewritten, and the fewer runs a look-up has to read.
    struct Merging: Sendable {
        /// During commits: a run stays if it is larger than twice the newer runs together; the base, if it is larger than them.
        static let whileWriting = Merging(isClosing: false)
        /// When a store is closed, especially after a bulk load: a run stays if it is larger than eight times the newer ones.
        static let whenClosing = Merging(isClosing: true)

        fileprivate let isClosing: Bool
        /// The part of an index's bytes on disk that closing may write again beyond those that a checkpoint during commits would.
        private var shareMax = 1.0

        private init(isClosing: Bool) {
            self.isClosing = isClosing
        }

        /// The same, with another `shareMax`.
        func rewriting(atMost shareMax: Double) -> Merging {
            var merging = self
            merging.shareMax = shareMax
            return merging
        }

        fileprivate func leaves(_ older: UInt64, isBase: Bool, beside newer: UInt64) -> Bool {
            older / (isClosing ? 8 : isBase ? 1 : 2) > newer
        }

        fileprivate func allows(rewriting bytes: UInt64, of all: UInt64) -> Bool {
            shareMax >= 1 || Double(bytes) <= Double(all) * shareMax
        }
    }

    /// With fewer runs on disk, they are merged with the base or not at all: a load that doubles the base again and again then rewrites no
    /// entry in between.
    private static let fewRuns = 4

    /// The number of runs on disk, from the newest, that are merged with the fresh ones.
    private func joinedCount(_ merging: Merging) -> Int {
        var count = smallCount(merging)
        if merging.isClosing {
            let least = joinedCount(.whileWriting)
            while count > least, !merging.allows(rewriting: disk[..<count].reduce(0) { $0 + $1.byteCount }, of: diskByteCount) { count -= 1 }
        } else if count < disk.count, disk.count < Self.fewRuns {
            count = 0
        }
        // Sizes that fall by half from one checkpoint to the next would otherwise add a run each time.
        return disk.count - count < Self.diskRunsMax ? count : disk.count - 1
    }

    /// The number of runs on disk, from the newest, up to the last one that is not large enough to stay.
    private func smallCount(_ merging: Merging) -> Int {
        var count = 0, newer = UInt64(freshEntryCount)
        for (index, run) in disk.enumerated() {
            // Includes the runs in between.
            if !merging.leaves(run.entryCount, isBase: index == disk.count - 1, beside: newer) { count = index + 1 }
            newer += run.entryCount
        }
        return count
    }

    /// Whether a checkpoint would change the runs on disk.
    func needsFlush(_ merging: Merging) -> Bool { !fresh.isEmpty || !flushing.isEmpty || joinedCount(merging) > 1 }

    /// The merge that a checkpoint does: the fresh runs, and the newest runs on disk that are not large enough to stay, become one run.
    /// - Parameter isPacked: whether the new run's blocks are packed.
    /// - Returns: nil if the runs on disk stay.
    func flush(_ merging: Merging, isPacked: Bool) -> RunMerge? {
        guard needsFlush(merging) else { return nil }
        let count = joinedCount(merging)
        return RunMerge(
            runs: RunSet(fresh: fresh, flushing: flushing, disk: Array(disk[..<count])), kept: Array(disk[count...]), isPacked: isPacked)
    }

    /// The merge of all runs into one.
    func whole(isPacked: Bool) -> RunMerge { RunMerge(runs: self, kept: [], isPacked: isPacked) }

    fileprivate var onlyRun: SortedRun? { fresh.isEmpty && flushing.isEmpty && disk.count == 1 ? disk.first : nil }
}
