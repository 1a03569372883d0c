import Synchronization

/// Commits of several threads share syncs: a commit is appended ahead, and published behind.
///
/// Under the writer's lock a commit is checked against the newest appended one and appended. It waits for the disk without the lock, so that others
/// are appended meanwhile: one sync is in progress (`WriterState.syncing`), and what is appended meanwhile waits for the next (`gathering`).
///
/// Invariants:
/// 1. The file's lock is held as long as a commit is appended and not published. So no process appends behind it, or takes it up.
/// 2. Readers, checkpoints, compactions and backups see the published snapshot only. Other code that writes to the file, or changes the
///    published snapshot, calls `finishSyncs` first; `beginWriting` does.
/// 3. A footer calls durable what was published when it was written. So if a crash tears one of these commits, nothing claims that it was durable,
///    and recovery cuts the tail off there, with the whole commits behind it.
/// 4. A failed sync fails every commit that is not published, since each was checked against the one before it.
///
/// Crash points, in order: as of `commit`; commits of the tail may be there up to any of them.
extension LockedStore {
    /// The newest commit that is in the file. A transaction begins with it.
    var newestAppended: Snapshot { writer.gathering?.newest ?? writer.syncing?.newest ?? snapshot() }

    /// Whether commits are appended and not published.
    var isAhead: Bool { writer.syncing != nil || writer.gathering != nil }

    /// The sync that makes every appended commit durable.
    var unsynced: SharedSync? { writer.gathering?.sync ?? writer.syncing?.sync }

    /// The number of commits that share syncs after threads have met. A thread that writes alone needs no other's: its commit is written and synced
    /// by one call, under the lock.
    private static let sharingLasts = 64

    /// The longest time for which one thread after another keeps the file's lock, so that other processes get it.
    private static let holdMax = Duration.milliseconds(32)

    /// Takes the file's lock and catches up with other processes, unless commits that wait for a sync hold it.
    func beginAppending() throws(StoreError) {
        guard isAhead, !writer.mustRelease else { return try beginWriting() }
        try check()
    }

    /// Ends what `beginAppending` began.
    /// - Parameter hasAppended: whether this thread is about to wait for its commit.
    func endAppending(hasAppended: Bool) {
        if store.waiting.load(ordering: .relaxed) > 0 { writer.sharedCommits = Self.sharingLasts }
        beginNextSync(wakesThread: !hasAppended)
        if !isAhead { writer.file.storage.unlock() }
    }

    /// Whether the next commit waits for its sync without the lock.
    func sharesSync() -> Bool {
        guard options.durability == .full, fileSystem.outlivesProcess else { return false }
        if isAhead || options.alwaysSharesSyncs { return true }
        guard writer.sharedCommits > 0 else { return false }
        writer.sharedCommits -= 1
        return true
    }

    /// Makes a commit the newest appended one. It is in the file.
    func append(ahead newest: Snapshot) {
        if !isAhead {
            writer.heldSince = .now
            writer.mustRelease = false
        }
        writer.gathering = UnsyncedCommits(sync: writer.gathering?.sync ?? SharedSync(newest.file), newest: newest)
    }

    private func beginNextSync(wakesThread: Bool) {
        guard writer.syncing == nil, let next = writer.gathering else { return }
        writer.gathering = nil
        writer.syncing = next
        next.sync.makeReady(wakesThread: wakesThread)
    }

    /// Publishes the commits of a sync, unless another thread has done that. Called by the thread that has synced.
    func settle(_ sync: SharedSync) {
        guard writer.syncing?.sync === sync else { return }
        publishSynced(beginsNext: true)
        if isUpkeepDue {
            publishAll()
            checkpointIfDue()
        }
        announceCompactionIfDue()
        if !isAhead { writer.file.storage.unlock() }
    }

    /// Makes every appended commit durable and publishes it. A failure is that of the threads that wait; the handle is poisoned then.
    func finishSyncs() {
        guard isAhead else { return }
        publishAll()
        writer.file.storage.unlock()
    }

    private func publishAll() {
        while isAhead {
            beginNextSync(wakesThread: false)
            guard let sync = writer.syncing?.sync else { return }
            if sync.claim() { sync.run(counters, store.syncEnd) } else { store.syncEnd.wait { sync.isSynced } }
            publishSynced(beginsNext: false)
        }
    }

    private func publishSynced(beginsNext: Bool) {
        guard let done = writer.syncing else { return }
        if done.sync.failure == nil {
            do throws(StoreError) {
                try announce(superblock(of: done.newest))
            } catch {
                // The commits are on the disk.
                done.sync.fail(error.asUncertain)
            }
        }
        if let failure = done.sync.failure { return failAppended(failure) }
        if writer.end == done.newest.end { writer.syncedEnd = writer.end }
        writer.syncing = nil
        if ContinuousClock.now - writer.heldSince > Self.holdMax { writer.mustRelease = true }
        if beginsNext { beginNextSync(wakesThread: true) }
        publish(done.newest)
        done.sync.end()
    }

    private func superblock(of newest: Snapshot) -> Superblock {
        var superblock = writer.superblock(upTo: newest.end)
        superblock.sequence = newest.sequence
        superblock.commitChecksum = newest.commitChecksum
        superblock.isUnresolved = false
        superblock.durableSequence = superblock.sequence
        superblock.durableEnd = superblock.end
        return superblock
    }

    /// Goes back to the published commit. The handle writes nothing more: the file may have the others or not.
    private func failAppended(_ failure: StoreError) {
        writer.poison = writer.poison ?? failure
        let newest = newestAppended, published = snapshot()
        for unsynced in [writer.syncing, writer.gathering] {
            unsynced?.sync.fail(failure)
            unsynced?.sync.end()
        }
        (writer.syncing, writer.gathering) = (nil, nil)
        writer.end = writer.superblock.end
        newest.removeAddresses(behind: published)
    }
}

extension Snapshot {
    /// Takes the addresses of failed commits out of the deltas that all snapshots share. Readers would follow them to bytes that another process may
    /// cut off.
    /// - Parameter published: the newest commit that stays.
    fileprivate func removeAddresses(behind published: Snapshot) {
        for state in tables {
            guard let delta = state?.primary.delta else { continue }
            delta.forEach { row, known in
                var address = known & ~PrimaryDelta.tombstoneBit
                guard address >= published.end else { return }
                while address >= published.end {
                    // The bytes were just written. An address that cannot be followed stays.
                    guard let record = try? file.record(at: address, end: file.readableEnd).record else { return }
                    address = record.previous
                }
                guard address != 0 else { return delta.store(row, 0) }
                guard let record = try? file.record(at: address, end: file.readableEnd).record else { return }
                delta.store(row, record.operation == .delete ? address | PrimaryDelta.tombstoneBit : address)
            }
        }
    }
}

extension LogStore {
    /// Waits until the commits of a sync are durable and published. Must not be called under the store's locks.
    /// - Throws: the failure of the sync, or of an earlier one.
    func finish(_ sync: SharedSync) throws(StoreError) {
        if sync.wait() {
            sync.run(counters, syncEnd)
            writerLock.hold(for: self) { $0.settle(sync) }
        }
        if let failure = sync.failure { throw failure }
    }
}
