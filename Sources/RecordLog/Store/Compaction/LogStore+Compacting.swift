extension LogStore {
    /// Writes the live rows to a new file, in table and row order, with their indexes. The new file then replaces the old one.
    ///
    /// Other threads and processes read and write meanwhile. Writers wait only while the last commits are copied and the new file gets its
    /// name. Older snapshots stay readable. Other processes go over to the new file at their next write or refresh. A crash at any point
    /// leaves the old file or the new one, whole.
    /// - Parameters:
    ///   - window: the commits that stay commits of their own.
    ///   - findsHolders: whether the report lists the processes that keep the old file's space. This inspects every process.
    ///   - progress: called without any lock, every few thousand rows and before each round of catching up. If it returns false, the
    ///     compaction is cancelled, and the store is unchanged.
    /// - Throws: `noSpace` before anything is written, if the file system has less room than the new file may take; `locked` if a compaction
    ///   is in progress, in any process; `exists` if another program's file has the new file's path, PATH.compacting; `superseded` if another
    ///   file has taken the store's path meanwhile; `cancelled`; as `write` does. The store is unchanged, unless the sync that makes the new
    ///   file's name durable fails: the handle is poisoned then.
    /// - Complexity: O(live data and window). Memory for the addresses of the rows, and for one damaged index at a time while it is rebuilt.
    @discardableResult
    public func compact(
        keeping window: HistoryWindow = .none, findsHolders: Bool = true, progress: ((CompactionProgress) -> Bool)? = nil
    ) throws(StoreError) -> CompactionReport {
        stopCompacting()
        var (report, old) = try runCompaction(keeping: window, progress)
        // The compaction itself holds the old file no longer; remaining holders have snapshots.
        if findsHolders { report.holders = old.map { $0.storage.holders(thisOpening: $0.file != nil) } ?? nil }
        return report
    }

    /// - Returns: the report, and the old file if a new one replaced it.
    func runCompaction(
        keeping window: HistoryWindow, _ progress: ((CompactionProgress) -> Bool)?
    ) throws(StoreError) -> (report: CompactionReport, old: ReplacedFile?) {
        try checkForWriting()
        finishCheckpoint()
        let newest = try newest(of: nil).snapshot
        guard newest.sequence > 0 else {
            // No rows, and no catalog.
            return (CompactionReport(bytesBefore: newest.end, bytesAfter: newest.end, rows: 0, commits: 0), nil)
        }
        let compaction = Compaction(self, at: try fileSystem.resolved(path), progress: progress)
        let done = try compaction.run(window)
        return (done.report, done.old)
    }

    /// The newest commit in the file, including those of other processes; the newest checkpoint; and whether a new file must be durable
    /// before it replaces this one. A decided commit that is shown and not completed is not in the file: the next holder of the lock
    /// completes it, at the latest the compaction at its end.
    /// - Parameter file: the file that the commit must belong to; nil for any file at the store's path.
    func newest(of file: LogFile?) throws(StoreError) -> (snapshot: Snapshot, checkpoint: FramePointer, isDurable: Bool) {
        try exclusively { locked throws(StoreError) in
            try locked.check()
            try locked.catchUp(isLocked: false)
            let writer = locked.writer
            guard file == nil || writer.file === file else { throw CheckpointSink.abandoned(path) }
            return (writer.base ?? snapshot(), writer.superblock.checkpoint, locked.keepsDurable)
        }
    }
}

extension LockedStore {
    /// Whether a new file must be durable before it replaces the store's. A handle that never waits for the disk
    /// does not undo a commit that another has acknowledged as durable.
    var keepsDurable: Bool { options.durability != .none || writer.superblock.durableSequence > 0 }

    /// Goes over to the file that has just got the store's name, under the store's locks. The file is durable, and its superblock says that
    /// its name may not be.
    /// - Parameter directory: the directory to sync; nil if nothing must be durable.
    func goOver(to opened: OpenedFile, _ directory: (any OpenDirectory)?) throws(StoreError) {
        // (9) Nothing is acknowledged to the new file before its name is durable. Another process that finds the file syncs the directory
        // first, as long as the superblock is unsettled.
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
        // Best effort: other handles find the new file by its path in any case.
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
