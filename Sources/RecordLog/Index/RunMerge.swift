/// Runs of one index that become one run on disk, and those that stay as they are beside it.
struct RunMerge: Sendable {
    let runs: IndexRuns
    /// Older than `runs`; none where everything becomes the base.
    let kept: [DiskRun]

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

extension IndexRuns {
    /// How much of the base the small runs together may be before everything becomes one new base: an entry is rewritten
    /// the less often the more that is, and a look-up has the more runs to ask.
    enum Merging {
        /// As much as the base: while commits come.
        case whileWriting
        /// An eighth: when a store is closed, after a bulk load above all.
        case whenClosing

        fileprivate var divisor: UInt64 { self == .whileWriting ? 1 : 8 }
    }

    private func isDue(_ merging: Merging) -> Bool {
        let small = UInt64(freshEntryCount) + disk.dropLast().reduce(0) { $0 + $1.entryCount }
        return disk.count >= Self.diskRunsMax || small * merging.divisor >= disk.last?.entryCount ?? 0
    }

    /// Whether a checkpoint would change the runs on disk.
    func needsFlush(_ merging: Merging) -> Bool {
        !fresh.isEmpty || !frozen.isEmpty || disk.count > 1 && isDue(merging)
    }

    /// What a checkpoint does: the fresh runs become one new run; when that would make too many, or the small ones together
    /// outweigh a part of the base, everything becomes one new base.
    /// - Returns: nil where the runs on disk stay.
    func flush(_ merging: Merging) -> RunMerge? {
        guard needsFlush(merging) else { return nil }
        return isDue(merging) ? whole : RunMerge(runs: IndexRuns(fresh: fresh, frozen: frozen), kept: disk)
    }

    /// Everything as one run.
    var whole: RunMerge { RunMerge(runs: self, kept: []) }

    fileprivate var onlyRun: DiskRun? { fresh.isEmpty && frozen.isEmpty && disk.count == 1 ? disk.first : nil }
}
