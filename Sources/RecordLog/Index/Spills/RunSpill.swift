/// Moves an index's entries from memory to a scratch file, so that a checkpoint that is put off needs no more memory than others.
///
/// The runs that it leaves, beyond a few, are larger each than the newer ones together, so that an entry is written O(log entries) times.
struct RunSpill: Sendable {
    /// With fewer spilled runs, none is merged again.
    private static let fewRuns = 4

    /// The runs that become one, newest first: all in memory, and the newest spilled ones that are not large enough to stay.
    private let merged: [FreshRun]
    private let kept: [FreshRun]

    /// - Returns: nil if the runs that no checkpoint is writing are not in memory.
    init?(_ runs: RunSet) {
        guard let last = runs.fresh.lastIndex(where: \.isInMemory) else { return nil }
        var count = last + 1, newer = 0
        if runs.fresh.count - count >= Self.fewRuns {
            for (index, run) in runs.fresh.enumerated() {
                // Includes the runs in between.
                if run.countMax <= newer { count = max(count, index + 1) }
                newer += run.countMax
            }
        }
        merged = Array(runs.fresh[..<count])
        kept = Array(runs.fresh[count...])
    }

    private var all: [FreshRun] { merged + kept }

    var mergedCount: Int { merged.count }

    /// Writes the merged run. Runs on disk may have entries that its tombstones hide.
    /// - Returns: the runs that replace those of `spilling`.
    func write(to scratch: ScratchFile) throws(StoreError) -> [FreshRun] {
        let cursor = try RunSet(fresh: merged).merged(keepsTombstones: true)
        let made = try scratch.write(entryCount: merged.reduce(0) { $0 + $1.countMax }) { writer throws(StoreError) in
            while try cursor.next() { try writer.append(cursor.entry, isTombstone: cursor.isTombstone) }
        }
        return (made.map { [.spilled($0)] } ?? []) + kept
    }

    /// The index while its entries are moved: later commits join nothing with them.
    func spilling(_ runs: RunSet) -> RunSet { RunSet(flushing: all, disk: runs.disk) }

    /// The index afterwards.
    /// - Parameters:
    ///   - runs: as of a later commit.
    ///   - made: nil if the entries could not be moved.
    /// - Returns: `runs` themselves if they come from another checkpoint or another file, which have the entries.
    func spilled(_ runs: RunSet, as made: [FreshRun]?) -> RunSet {
        guard runs.flushing.count == all.count, zip(runs.flushing, all).allSatisfy({ $0.isSame(as: $1) }) else { return runs }
        return RunSet(fresh: runs.fresh + (made ?? all), disk: runs.disk)
    }
}
