/// Runs of one index that become one run on disk, and those that stay as they are beside it.
struct RunMerge: Sendable {
    let runs: RunSet
    /// Older than `runs`; none where everything becomes the base.
    let kept: [SortedRun]

    var entryCount: UInt64 { UInt64(runs.freshEntryCount) + runs.diskEntryCount }
    /// About how much will be written.
    var byteCount: UInt64 { UInt64(runs.freshByteCount) + runs.diskByteCount }

    /// Gives the new run's blocks to a sink; its root is to follow.
    /// - Parameter check: called now and then; what it throws ends the merge.
    func write(to sink: any FrameSink, _ check: () throws(StoreError) -> Void = {}) throws(StoreError) -> FlushedRuns {
        var writer = RunWriter(sink: sink, entryCount: entryCount)
        if let base = runs.onlyRun, kept.isEmpty {
            // It has no tombstones.
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

/// Which runs become one. Sizes grow from each run to the next older one, so that a look-up has few to ask, however many checkpoints
/// there were, and an entry is written again O(log n) times in all.
extension RunSet {
    /// An entry is written again the less often the larger a run has to be to be left alone, and a look-up has the more runs to ask.
    enum Merging {
        /// While commits come: what is larger than twice what is newer stays, and the base where it is larger at all.
        case whileWriting
        /// When a store is closed, after a bulk load above all: what is larger than eight times as much stays.
        case whenClosing

        fileprivate func leaves(_ older: UInt64, isBase: Bool, beside newer: UInt64) -> Bool {
            older / (self == .whenClosing ? 8 : isBase ? 1 : 2) > newer
        }
    }

    /// Until there are so many, runs are made one with the base or not at all: a load that doubles the base again and again writes no entry
    /// twice in between.
    private static let fewRuns = 4

    /// How many of the runs on disk, the newest ones, become one with what is fresh.
    private func joinedCount(_ merging: Merging) -> Int {
        var count = 0, newer = UInt64(freshEntryCount)
        for (index, run) in disk.enumerated() {
            // What lies between is taken along.
            if !merging.leaves(run.entryCount, isBase: index == disk.count - 1, beside: newer) { count = index + 1 }
            newer += run.entryCount
        }
        if merging == .whileWriting, count < disk.count, disk.count < Self.fewRuns { count = 0 }
        // Sizes that fall by half from one checkpoint to the next would add a run each time.
        return disk.count - count < Self.diskRunsMax ? count : disk.count - 1
    }

    /// Whether a checkpoint would change the runs on disk.
    func needsFlush(_ merging: Merging) -> Bool { !fresh.isEmpty || !frozen.isEmpty || joinedCount(merging) > 1 }

    /// What a checkpoint does: the fresh runs become one new run, with those on disk that are not large enough beside it.
    /// - Returns: nil where the runs on disk stay.
    func flush(_ merging: Merging) -> RunMerge? {
        guard needsFlush(merging) else { return nil }
        let count = joinedCount(merging)
        return RunMerge(runs: RunSet(fresh: fresh, frozen: frozen, disk: Array(disk[..<count])), kept: Array(disk[count...]))
    }

    /// Everything as one run.
    var whole: RunMerge { RunMerge(runs: self, kept: []) }

    fileprivate var onlyRun: SortedRun? { fresh.isEmpty && frozen.isEmpty && disk.count == 1 ? disk.first : nil }
}
