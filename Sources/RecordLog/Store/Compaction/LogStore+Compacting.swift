extension LogStore {
    /// Writes the live rows to a new file, in table and row order, with their indexes, and puts it in the old one's place.
    ///
    /// Others read and write meanwhile; writers wait only while the last commits are copied and the new file gets its name.
    /// Snapshots taken before stay readable; other processes go over to the new file at their next write or refresh. A
    /// crash at any point leaves the old file or the new one, whole.
    /// - Parameters:
    ///   - window: which commits stay commits of their own.
    ///   - findsHolders: whether the report says who keeps the old file's space, which takes a look at every process.
    ///   - progress: called without any lock, every few thousand rows and before each round of catching up; false cancels,
    ///     and the store stays as it was.
    /// - Throws: `noSpace` before anything is written, where the file system has less room than the new file may take;
    ///   `locked` where a compaction is under way, in whatever process; `exists` where somebody's file has the new one's place,
    ///   PATH.compacting; `superseded` where another file has taken the
    ///   store's path meanwhile; `cancelled`; as `write` does. The store is as it was, but where making the new file's name
    ///   durable fails: the handle is poisoned then.
    /// - Complexity: O(live data and window); memory for one index at a time where it is damaged and made anew, and for the
    ///   addresses of the rows.
    @discardableResult
    public func compact(
        keeping window: HistoryWindow = .none, findsHolders: Bool = true, progress: ((CompactionProgress) -> Bool)? = nil
    ) throws(StoreError) -> CompactionReport {
        stopCompacting()
        var (report, old) = try runCompaction(keeping: window, progress)
        // The compaction itself holds it no more: whoever does has a snapshot.
        if findsHolders { report.holders = old.map { $0.storage.holders(thisOpening: $0.file != nil) } ?? nil }
        return report
    }

    /// - Returns: what was done, and the old file where there is a new one.
    func runCompaction(
        keeping window: HistoryWindow, _ progress: ((CompactionProgress) -> Bool)?
    ) throws(StoreError) -> (report: CompactionReport, old: ReplacedFile?) {
        try checkForWriting()
        finishCheckpoint()
        let newest = try newest(of: nil).snapshot
        guard newest.sequence > 0 else {
            // No rows, and not even a catalog.
            return (CompactionReport(bytesBefore: newest.end, bytesAfter: newest.end, rows: 0, commits: 0), nil)
        }
        let compaction = Compaction(self, at: try fileSystem.resolved(path), progress: progress)
        let done = try compaction.run(window)
        return (done.report, done.old)
    }

    /// The newest commit in the file, those of other processes included, its newest checkpoint, and whether a new file must be
    /// durable before it takes that one's place. A commit that is shown and that nobody has completed is not in the file: whoever takes the
    /// lock next completes it, the compaction at its end if nobody else.
    /// - Parameter file: the file that it must be of; nil for whichever has the store's path.
    func newest(of file: LogFile?) throws(StoreError) -> (snapshot: Snapshot, checkpoint: FramePointer, isDurable: Bool) {
        try exclusively { () throws(StoreError) in
            try writer.check(path: path)
            try catchUp(isLocked: false)
            guard file == nil || writer.file === file else { throw CheckpointSink.abandoned(path) }
            return (writer.base ?? snapshot(), writer.superblock.checkpoint, keepsDurable)
        }
    }

    /// Under the store's lock: whether a new file must be durable before it takes the store's place. A handle that never waits
    /// for the disk does not take back what another has acknowledged.
    var keepsDurable: Bool { options.durability != .none || writer.superblock.durableSequence > 0 }

    /// Under the store's locks: goes over to the file that has just got the store's name. It is durable itself, and says that
    /// its name may not be.
    /// - Parameter directory: to be synced; nil where nothing needs to be durable.
    func goOver(to opened: OpenedFile, _ directory: (any OpenDirectory)?) throws(StoreError) {
        // (9) Nothing is acknowledged to the new file before its name is durable: neither here nor by a process that finds
        // it, which syncs the directory first as long as the superblock is unsettled.
        if let directory {
            do throws(StoreError) {
                try directory.sync()
            } catch {
                // The new file may keep the name.
                let failure = error.asUncertain
                writer.poison = failure
                throw failure
            }
        }
        let old = writer.file
        var superseded = writer.superblock
        superseded.isSuperseded = true
        superseded.generation += 1
        // Best effort: others find the new file by its path in any case.
        try? FileCreation.write(superseded, to: old.storage, fileID: old.identity.fileID)
        old.storage.unlock()
        writer.take(opened)
        publish(opened.snapshot)
        guard directory != nil else { return }
        var settled = opened.superblock
        settled.isUnsettled = false
        try announce(settled)
    }
}
