import Synchronization

/// Checkpoints beside the commits.
///
/// The part of the newest snapshot that its base lacks becomes immutable, and commits go on above it, into fresh deltas and runs. A thread
/// flushes that part to the file and makes it durable. Then a new base replaces the old one and the flushed part. Older snapshots keep what they
/// hold. Only one checkpoint runs at a time. Writers wait for it once the log has grown by the whole of `checkpointAfterBytes`, which bounds
/// the log behind it. A load puts its checkpoint off: `LockedStore+Loads.swift`.
extension LockedStore {
    /// Called under the store's locks, after a commit. Throws nothing, since the commit stands even if its checkpoint fails. A disk failure
    /// has poisoned the handle, and the next write throws it.
    func checkpointIfDue() {
        let isInBackground = options.checkpointsInBackground
        let due = isInBackground ? options.checkpointAfterBytes / 2 : options.checkpointAfterBytes
        guard !putsCheckpointOff else { return putCheckpointOff(due: due) }
        guard writer.bytesBehind - min(writer.bytesBehind, writer.bytesBehindAtFailure) > due else { return }
        guard isInBackground else { return checkpointNow() }
        guard store.backgroundCheckpoint.isFinished else { return }
        let base = snapshot()
        guard !base.isFlushing, startCheckpoint(of: base) else { return checkpointNow() }
    }

    /// Whether `checkpointIfDue` may have something to do.
    var isUpkeepDue: Bool {
        guard writer.poison == nil else { return false }
        let isInBackground = options.checkpointsInBackground, due = isInBackground ? options.checkpointAfterBytes / 2 : options.checkpointAfterBytes
        let isIdle = !isInBackground || store.backgroundCheckpoint.isFinished
        guard putsCheckpointOff else {
            return isIdle && writer.bytesBehind - min(writer.bytesBehind, writer.bytesBehindAtFailure) > due
        }
        return isIdle && writer.bytesUnspilled > due || isInBackground && writer.bytesBehind > due && !writer.load.isWatched
    }

    func checkpointNow() {
        do throws(StoreError) { try writeCheckpoint() } catch { writer.bytesBehindAtFailure = writer.bytesBehind }
    }

    /// Called under the write lock, with or without the file's.
    /// - Parameter base: the newest snapshot.
    /// - Returns: false if the system provides no thread; nothing has changed then.
    func startCheckpoint(of base: Snapshot) -> Bool {
        store.backgroundCheckpoint.begin()
        publish(base.flushing())
        let end = writer.end, previous = writer.superblock.checkpoint, behind = writer.bytesBehind, unspilled = writer.bytesUnspilled
        let isStarted = SystemThread.start { [store] in
            do throws(StoreError) {
                let sink = try CheckpointSink(store, base: base, logEnd: end, previous: previous)
                let made = try CheckpointBuilder(base: base, sink: sink, options: store.options).build(previous: previous)
                // (6) A run is referred to only once it is synced.
                try sink.sync()
                try store.lockedForWriting { locked throws(StoreError) in
                    try locked.adopt(made, of: base, previous: previous, behind: behind, unspilled: unspilled)
                }
            } catch {
                // The next checkpoint includes the part that this one has not flushed.
                store.writerLock.hold(for: store) { $0.writer.bytesBehindAtFailure = $0.writer.bytesBehind }
            }
            store.backgroundCheckpoint.finish()
        }
        if !isStarted {
            publish(base)
            store.backgroundCheckpoint.finish()
        }
        return isStarted
    }

    private func adopt(
        _ made: CheckpointBuilder.Made, of base: Snapshot, previous: FramePointer, behind: UInt64, unspilled: UInt64
    ) throws(StoreError) {
        guard writer.file === base.file, writer.superblock.checkpoint == previous else { throw CheckpointSink.abandoned(path) }
        var superblock = writer.superblock(upTo: writer.end)
        superblock.checkpoint = made.manifest
        // Everything of the checkpoint was synced before this. Every commit before it was synced and published, except those of another
        // handle that does not wait for the disk.
        if options.durability == .full, superblock.durableSequence == superblock.sequence { superblock.durableEnd = superblock.end }
        try writeSuperblock(superblock)
        writer.bytesBehind -= min(behind, writer.bytesBehind)
        writer.bytesUnspilled -= min(unspilled, writer.bytesUnspilled)
        writer.bytesBehindAtFailure = 0
        writer.load.hasFailed = false
        counters.checkpointed()
        publish(made.over(snapshot(), isWhole: false))
    }
}

extension LogStore {
    /// Waits for a checkpoint in progress. Must not be called under the store's locks.
    func finishCheckpoint() {
        // A child of fork() does not have the thread.
        if !isForked { backgroundCheckpoint.wait() }
    }

    /// Waits for the checkpoint or the spill in progress if too many index entries are in memory.
    func throttle() {
        while !isForked, !backgroundCheckpoint.isFinished {
            let bytes = writerLock.hold(for: self) { $0.writer.poison == nil ? $0.writer.bytesUnspilled : 0 }
            guard bytes > options.checkpointAfterBytes else { return }
            backgroundCheckpoint.wait()
        }
    }
}

extension Snapshot {
    /// The same commit for a checkpoint that flushes the part that the base lacks: later commits do not change that part.
    func flushing() -> Snapshot {
        let tables = self.tables.map { state in
            state.map { $0.with(PrimaryIndex(base: $0.primary.base, flushing: $0.primary.delta)) }
        }
        let indexes = self.indexes.map { runs in runs.map { RunSet(flushing: $0.fresh, disk: $0.disk) } }
        return Snapshot(
            sequence: sequence, catalog: catalog, file: file, end: end, commitChecksum: commitChecksum, tables: tables, indexes: indexes,
            counters: counters)
    }
}
