import Synchronization

/// A load puts its checkpoint off.
///
/// Each checkpoint leaves index runs and pages that the next ones replace, and lays them between the rows. So while large commits follow each
/// other, the checkpoint waits until the load ends, or until eight times `checkpointAfterBytes` of log are behind the newest one: recovery
/// stays bounded. Meanwhile index entries go to scratch files as often as checkpoints would have taken them.
///
/// Nothing of this is needed for recovery: after a crash the log has everything, and scratch files have no name.
extension LockedStore {
    /// Once so many times `checkpointAfterBytes` are behind the newest checkpoint, it is put off no longer.
    private static let putOffFactor: UInt64 = 8
    /// The part of `checkpointAfterBytes` that small commits may have after a large one until the load has ended.
    private static let smallPart: UInt64 = 16

    /// Takes up a commit's bytes.
    func note(commit bytes: UInt64) {
        writer.bytesBehind += bytes
        writer.bytesUnspilled += min(bytes, unspilledMax)
        writer.load.note(bytes, isLarge: bytes >= options.largeCommitBytes)
    }

    /// Takes up an index that a commit has built of rows that were there before. An opening makes it anew from them until a checkpoint has it, so its
    /// bytes and theirs count as if the log had them behind the checkpoint.
    func note(built bytes: UInt64) { writer.bytesBehind += bytes }

    /// The most bytes that one commit counts as unspilled. A transaction has spilled what its memory does not hold, so the rest of a huge one is
    /// enough to begin a spill (half of `checkpointAfterBytes`) and too little to make the next commit wait for it (all of them; `throttle`).
    private var unspilledMax: UInt64 { options.checkpointAfterBytes / 4 * 3 }

    /// Whether the checkpoint that may be due is put off.
    var putsCheckpointOff: Bool {
        let load = writer.load
        return load.lastLarge != nil && load.smallBytes <= options.checkpointAfterBytes / Self.smallPart && !load.hasFailed
            && writer.bytesBehindAtFailure == 0 && writer.bytesBehind / Self.putOffFactor <= options.checkpointAfterBytes
    }

    /// Does what is to be done instead of a checkpoint.
    /// - Parameter due: the bytes behind the newest checkpoint from which one would be written.
    func putCheckpointOff(due: UInt64) {
        if writer.bytesBehind > due { watchLoad() }
        guard writer.bytesUnspilled > due, store.backgroundCheckpoint.isFinished, !spill() else { return }
        writer.load.hasFailed = true
        checkpointIfDue()
    }

    /// A handle that follows another one's load spills the entries that it has replayed.
    func spillWhatOthersWrote() {
        // Without threads the operations come in an order that a simulation repeats.
        guard !options.isReadOnly, options.checkpointsInBackground, writer.bytesUnspilled > options.checkpointAfterBytes / 2,
            !writer.load.hasFailed, store.backgroundCheckpoint.isFinished, !snapshot().isFlushing
        else { return }
        writer.load.hasFailed = !spill()
    }

    // MARK: Spilling

    /// Moves the newest snapshot's index entries from memory to a scratch file, on a thread where that is possible.
    /// - Returns: false if there can be no such file.
    private func spill() -> Bool {
        let base = snapshot()
        // A checkpoint that failed has left entries that only a checkpoint writes.
        guard !base.isFlushing else { return false }
        let runs = base.indexes.map { $0.flatMap(RunSpill.init) }
        guard runs.contains(where: { $0 != nil }) else {
            writer.bytesUnspilled = 0
            return true
        }
        // Made under the lock: two files of one name would be in each other's way.
        guard let scratch = try? ScratchFile(besides: base.file, options) else { return false }
        let spill = IndexSpill(runs, to: scratch), bytes = writer.bytesUnspilled
        publish(base.with(spill.spilling(base.indexes)))
        store.backgroundCheckpoint.begin()
        let isStarted = options.checkpointsInBackground && spill.writesBehind && SystemThread.start { [store] in
            spill.write()
            store.writerLock.hold(for: store) { $0.take(spill, bytes: bytes) }
            store.backgroundCheckpoint.finish()
        }
        guard !isStarted else { return true }
        spill.write()
        take(spill, bytes: bytes)
        store.backgroundCheckpoint.finish()
        return true
    }

    /// - Parameter bytes: the log's bytes whose entries were moved.
    private func take(_ spill: IndexSpill, bytes: UInt64) {
        finishSyncs()
        let newest = snapshot()
        publish(newest.with(spill.spilled(newest.indexes)))
        writer.bytesUnspilled -= min(bytes, writer.bytesUnspilled)
        if spill.hasFailed { writer.load.hasFailed = true }
    }

    // MARK: The end of a load

    /// Starts a thread that writes the checkpoint once no large commit has come for a while. It does not keep the store open.
    private func watchLoad() {
        guard options.checkpointsInBackground, !writer.load.isWatched else { return }
        let closing = store.closing, pause = options.loadPause
        writer.load.isWatched = SystemThread.start { [weak store] in
            var wait: Duration? = pause
            while let time = wait {
                closing.wait(atMost: max(1, Int(time / .milliseconds(1))))
                guard !closing.isFinished else { return }
                wait = store?.endLoadIfIdle()
            }
        }
    }

    /// - Returns: the time until the next look; nil if the load has ended.
    fileprivate func endLoadIfIdle() -> Duration? {
        guard !writer.isClosed, writer.poison == nil, writer.bytesBehind > options.checkpointAfterBytes / 2,
            let last = writer.load.lastLarge
        else {
            writer.load.isWatched = false
            return nil
        }
        let idle = ContinuousClock.now - last
        guard idle >= options.loadPause else { return options.loadPause - idle }
        writer.load.end()
        writer.load.isWatched = false
        startCheckpointAlone()
        return nil
    }

    /// Starts a checkpoint without the file's lock: its thread takes the lock for each batch.
    fileprivate func startCheckpointAlone() {
        finishSyncs()
        let base = snapshot()
        guard !base.isFlushing, store.backgroundCheckpoint.isFinished else { return }
        _ = startCheckpoint(of: base)
    }

    fileprivate func writeCheckpointAtExit() {
        guard isCheckpointDueAtExit, (try? beginWriting(within: .milliseconds(Self.exitMilliseconds / 5))) != nil else { return }
        defer { writer.file.storage.unlock() }
        try? writeCheckpoint()
    }

    fileprivate var isCheckpointDueAtExit: Bool {
        !writer.isClosed && writer.poison == nil
            && writer.bytesBehind - min(writer.bytesBehind, writer.bytesBehindAtFailure) > options.checkpointAfterBytes / 2
    }

    /// In milliseconds.
    fileprivate var exitWait: Int { min(max(Self.exitMilliseconds, Int(writer.load.duration / .milliseconds(1))), 12 * Self.exitMilliseconds) }

    fileprivate static let exitMilliseconds = 5000
}

extension LogStore {
    fileprivate func endLoadIfIdle() -> Duration? {
        finishCheckpoint()
        return writerLock.hold(for: self) { $0.endLoadIfIdle() }
    }

    /// Writes a checkpoint after an opening that has replayed much, and waits for it: then the next opening need not, however this process ends. A
    /// writer that leaves less behind than a steady one does not wait.
    func checkpointAfterLongReplay() {
        let behind = writerLock.hold(for: self) { $0.writer.bytesBehind }, isLong = behind > options.checkpointAfterBytes
        guard options.checkpointsInBackground else {
            guard isLong else { return }
            // If it fails, the store is as it was, and a commit tries again.
            _ = try? lockedForWriting { locked throws(StoreError) in locked.checkpointNow() }
            return
        }
        guard behind > options.checkpointAfterBytes / 2 else { return }
        writerLock.hold(for: self) { $0.startCheckpointAlone() }
        if isLong { finishCheckpoint() }
    }

    /// Bytes of log that this handle has replayed and no checkpoint has, if they are more than a writer's opening leaves. Each reader's opening
    /// replays them: a load was interrupted, or goes on. nil otherwise, and for a replica, which has the checkpoints of its full copy only.
    package var longReplay: UInt64? {
        let bytes = writerLock.hold(for: self) { $0.writer.superblock.isReplica ? 0 : $0.writer.bytesBehind }
        return bytes > options.checkpointAfterBytes ? bytes : nil
    }

    /// Writes the checkpoint that is due, or that a load has put off, as the process ends. A store that a thread is writing to stays as it is, since
    /// the thread may be this one; so does one that another process keeps locked.
    ///
    /// It waits for what a thread writes already: five seconds, or as long as the load took if that is longer, since the checkpoint takes a part of
    /// that time on a machine of any speed. But it waits at most a minute.
    func checkpointAtExit() {
        guard !isForked else { return }
        awaitIndexBuilds()
        guard let wait = writerLock.holdIfAvailable(for: self, { $0.isCheckpointDueAtExit ? $0.exitWait : nil }) ?? nil else { return }
        backgroundCheckpoint.wait(atMost: wait)
        guard backgroundCheckpoint.isFinished else { return }
        _ = writerLock.holdIfAvailable(for: self) { $0.writeCheckpointAtExit() }
    }
}

extension Snapshot {
    /// Whether a checkpoint or a spill is in progress over it, or one has failed.
    var isFlushing: Bool {
        tables.contains { $0?.primary.flushing != nil } || indexes.contains { $0?.flushing.isEmpty == false }
    }

    /// The same commit with other runs of its indexes.
    func with(_ indexes: [RunSet?]) -> Snapshot {
        Snapshot(
            sequence: sequence, catalog: catalog, file: file, end: end, commitChecksum: commitChecksum, tables: tables, indexes: indexes,
            counters: counters)
    }
}
