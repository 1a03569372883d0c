/// The runs of one index as of one commit, newest first: those in memory, then those on disk, the base last.
///
/// Immutable: a commit makes a new value that shares all runs but the new one.
///
/// Invariants:
/// 1. An entry of a newer run hides the equal entry of an older one.
/// 2. At most `memoryRunsMax` runs in memory and `diskRunsMax` on disk, but for runs in memory too large to be merged.
struct IndexRuns: Sendable {
    var memory: [MemoryRun] = []
    /// While a checkpoint is being written: what it takes to the disk. Older than `memory`.
    var frozen: [MemoryRun] = []
    var disk: [DiskRun] = []

    static let memoryRunsMax = 8
    static let diskRunsMax = 9

    var memoryEntryCount: Int { memory.reduce(0) { $0 + $1.countMax } + frozen.reduce(0) { $0 + $1.countMax } }
    var diskEntryCount: UInt64 { disk.reduce(0) { $0 + $1.entryCount } }
    var diskByteCount: UInt64 { disk.reduce(0) { $0 + $1.byteCount } }

    /// These runs under a newer one. Neighbours of like size are joined, so that sizes grow geometrically: an entry is
    /// sorted again O(log n) times in all where somebody reads after each commit, once where nobody does.
    func adding(_ run: MemoryRun) -> IndexRuns {
        var result = self
        result.memory.insert(run, at: 0)
        while result.memory.count > 1, result.memory[0].byteCount + result.memory[1].byteCount <= EntryBuffer.byteCountMax,
            result.memory.count > Self.memoryRunsMax || result.memory[0].countMax * 2 >= result.memory[1].countMax
        {
            result.memory.replaceSubrange(0..<2, with: [MemoryRun.joining(result.memory[0], result.memory[1])])
        }
        return result
    }

    func cursors(_ range: KeyRange, isDescending: Bool) throws(StoreError) -> [RunCursor] {
        var cursors: [RunCursor] = []
        cursors.reserveCapacity(memory.count + frozen.count + disk.count)
        for run in memory { cursors.append(RunCursor.over(run, range, isDescending: isDescending)) }
        for run in frozen { cursors.append(RunCursor.over(run, range, isDescending: isDescending)) }
        for run in disk { cursors.append(try RunCursor.over(run, range, isDescending: isDescending)) }
        return cursors
    }

    /// The row of the first entry that starts with `key`; nil where there is none.
    /// - Complexity: O(log entries) for each run.
    func firstRow(prefix key: UnsafeRawBufferPointer) throws(StoreError) -> UInt64? {
        var found: (row: UInt64, isTombstone: Bool)?
        var isAmbiguous = false
        for index in 0..<memory.count + frozen.count {
            let run = index < memory.count ? memory[index] : frozen[index - memory.count]
            guard let entry = run.first(prefix: key) else { continue }
            if found != nil { isAmbiguous = true }
            found = entry
        }
        for run in disk {
            guard let entry = try run.first(prefix: key) else { continue }
            if found != nil { isAmbiguous = true }
            found = entry
        }
        guard let found else { return nil }
        if !isAmbiguous, !found.isTombstone { return found.row }
        // Several runs have such entries, or the first one of the only run is hidden: look at all in order.
        let merge = MergeCursor(
            cursors: try cursors(.prefix(Array(key)), isDescending: false), isDescending: false, keepsTombstones: false)
        return try merge.next() ? IndexCursor.row(of: merge.entry) : nil
    }

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
        let small = UInt64(memoryEntryCount) + disk.dropLast().reduce(0) { $0 + $1.entryCount }
        return disk.count >= Self.diskRunsMax || small * merging.divisor >= disk.last?.entryCount ?? 0
    }

    /// Whether a checkpoint would change the runs on disk.
    func needsFlush(_ merging: Merging) -> Bool {
        !memory.isEmpty || !frozen.isEmpty || disk.count > 1 && isDue(merging)
    }

    /// Gives what is in memory to a sink, as a checkpoint does.
    ///
    /// The runs in memory become one new run; when that would make too many, or the small ones together outweigh a part of the
    /// base, everything becomes one new base.
    /// - Returns: what becomes the runs on disk; nil where these stay.
    func flushing(to sink: any FrameSink, _ merging: Merging) throws(StoreError) -> FlushedRuns? {
        guard needsFlush(merging) else { return nil }
        let isRebased = isDue(merging)
        let merged = MergeCursor(
            cursors: isRebased
                ? try cursors(.all, isDescending: false) : try IndexRuns(memory: memory, frozen: frozen).cursors(.all, isDescending: false),
            isDescending: false, keepsTombstones: !isRebased)
        var writer = RunWriter(sink: sink)
        while try merged.next() { try writer.append(merged.entry, isTombstone: merged.isTombstone) }
        return FlushedRuns(new: try writer.finishBlocks(), kept: isRebased ? [] : disk)
    }

    /// Gives everything to a writer, as one run.
    /// - Parameter check: called now and then; what it throws ends the walk.
    func copy(to writer: inout RunWriter, _ check: () throws(StoreError) -> Void) throws(StoreError) {
        if memory.isEmpty, frozen.isEmpty, let run = disk.first, disk.count == 1 {
            // The base alone, which has no tombstones.
            let root = try run.blocks()
            for index in 0..<root.count {
                if index % 64 == 0 { try check() }
                try writer.append(try run.block(root.pointer(index)), separator: root.wholeSeparator(index))
            }
            return
        }
        let merged = MergeCursor(cursors: try cursors(.all, isDescending: false), isDescending: false, keepsTombstones: false)
        var count = 0
        while try merged.next() {
            if count % 8192 == 0 { try check() }
            count &+= 1
            try writer.append(merged.entry, isTombstone: false)
        }
    }
}
