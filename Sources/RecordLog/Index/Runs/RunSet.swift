/// The runs of one index as of one commit, newest first: those that no checkpoint has written yet, then those on disk, the base last.
///
/// Immutable: a commit makes a new value that shares all runs except the new one.
///
/// Invariants:
/// 1. An entry of a newer run hides the equal entry of an older one.
/// 2. At most `memoryRunsMax` runs in memory and `diskRunsMax` on disk; spilled runs, and runs too large to join, do not count.
/// 3. An entry is put only where the older ones do not have it, and deleted only where they do. So a run in memory has neither the entries that came
///    and went in it nor their tombstones, and a range of it has at most twice as many entries as the range had at one time: those at its end,
///    and tombstones of those at its start. See docs/decisions/0138-entries-that-come-and-go-cancel-out.md.
final class RunSet: Sendable {
    let fresh: [FreshRun]
    /// While a checkpoint is being written: the runs that it writes to the disk. Older than `fresh`.
    let flushing: [FreshRun]
    let disk: [SortedRun]

    static let empty = RunSet()

    static let memoryRunsMax = 8
    static let diskRunsMax = 9

    init(fresh: [FreshRun] = [], flushing: [FreshRun] = [], disk: [SortedRun] = []) {
        self.fresh = fresh
        self.flushing = flushing
        self.disk = disk
    }

    var freshEntryCount: Int { fresh.reduce(0) { $0 + $1.countMax } + flushing.reduce(0) { $0 + $1.countMax } }
    var freshByteCount: Int { fresh.reduce(0) { $0 + $1.byteCount } + flushing.reduce(0) { $0 + $1.byteCount } }
    var diskEntryCount: UInt64 { disk.reduce(0) { $0 + $1.entryCount } }
    var diskByteCount: UInt64 { disk.reduce(0) { $0 + $1.byteCount } }

    /// These runs with a newer one. If they become too many, joins the newest ones of similar size, so that sizes grow geometrically. An
    /// entry is copied and sorted again O(log n) times in all if each commit is followed by a read, and sorted once if there are no reads.
    func adding(_ run: FreshRun) -> RunSet {
        let joined = joinedRuns(run)
        var all: [FreshRun] = []
        all.reserveCapacity(fresh.count + 1)
        all.append(joined.count < 2 ? run : .memory(.joining(joined)))
        all += fresh[max(0, joined.count - 1)...]
        return RunSet(fresh: all, flushing: flushing, disk: disk)
    }

    /// The same runs, marked as written by no checkpoint.
    var allFresh: RunSet { RunSet(fresh: fresh + flushing + disk.map { .spilled($0) }) }

    /// The runs that are joined with a new run, and that run, newest first.
    private func joinedRuns(_ run: FreshRun) -> [ImmutableMemtable] {
        guard fresh.count >= Self.memoryRunsMax, case .memory(let newest) = run else { return [] }
        // A spilled run is older than those in memory, or a commit spilled it; nothing is joined with it.
        let inMemory = fresh.firstIndex { !$0.isInMemory } ?? fresh.count
        guard inMemory >= Self.memoryRunsMax else { return [] }
        var joined = [newest], count = newest.countMax, bytes = newest.byteCount
        for (index, older) in fresh[..<inMemory].enumerated() {
            guard case .memory(let older) = older, bytes + older.byteCount <= Memtable.byteCountMax,
                inMemory - index >= Self.memoryRunsMax || count * 2 >= older.countMax
            else { break }
            joined.append(older)
            count += older.countMax
            bytes += older.byteCount
        }
        return joined
    }

    /// A scan over all runs.
    func merged(_ range: KeyRange = .all, isDescending: Bool = false, keepsTombstones: Bool = false) throws(StoreError) -> MergeCursor {
        MergeCursor(cursors: try cursors(range, isDescending: isDescending), isDescending: isDescending, keepsTombstones: keepsTombstones)
    }

    private func cursors(_ range: KeyRange, isDescending: Bool) throws(StoreError) -> [RunCursor] {
        var cursors: [RunCursor] = []
        cursors.reserveCapacity(fresh.count + flushing.count + disk.count)
        for run in fresh { cursors.append(try run.cursor(range, isDescending: isDescending)) }
        for run in flushing { cursors.append(try run.cursor(range, isDescending: isDescending)) }
        for run in disk { cursors.append(try RunCursor.over(run, range, isDescending: isDescending)) }
        return cursors
    }

    /// The row of the first entry that starts with `key`; nil if there is none.
    /// - Complexity: O(log entries) for each run.
    func firstRow(prefix key: UnsafeRawBufferPointer) throws(StoreError) -> UInt64? {
        var found: (row: UInt64, isTombstone: Bool)?
        var isAmbiguous = false
        for index in 0..<fresh.count + flushing.count {
            let run = index < fresh.count ? fresh[index] : flushing[index - fresh.count]
            guard let entry = try run.first(prefix: key) else { continue }
            if found != nil { isAmbiguous = true }
            found = entry
        }
        for index in disk.indices {
            let run = Unmanaged.passUnretained(disk[index])
            guard let entry = try run.guaranteed({ run throws(StoreError) in try run.first(prefix: key) }) else { continue }
            if found != nil { isAmbiguous = true }
            found = entry
        }
        guard let found else { return nil }
        if !isAmbiguous, !found.isTombstone { return found.row }
        // Several runs have such entries, or the first one of the only run is a tombstone: scan all in order.
        let merge = try merged(.prefix(Array(key)))
        return try merge.next() ? IndexEntry.row(of: merge.entry) : nil
    }
}
