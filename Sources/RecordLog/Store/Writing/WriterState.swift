import Synchronization

/// The header that a writer's state knows, for threads that look without the lock.
final class KnownHeader: Sendable {
    /// The mark's digest; 0 for none.
    let digest = Atomic<UInt64>(0)
}

/// The state of a handle's writer, which `WriterLock` gives to the lock's holder.
///
/// idle -> writing -> idle; a failed write or sync -> poisoned, for good.
final class WriterState {
    var file: LogFile
    /// The newest commit that is whole in the file, if the published snapshot shows one more: another store has decided for that one, and no
    /// writer has completed it yet. Never set while the lock is held.
    var base: Snapshot?
    /// The appended commits whose sync is in progress, or about to begin. See `LockedStore.newestAppended`.
    var syncing: UnsyncedCommits?
    /// The appended commits behind those. They wait for the next sync.
    var gathering: UnsyncedCommits?
    /// The number of further commits that share syncs, although no other thread may be there to share with.
    var sharedCommits = 0
    /// The time since which appended commits hold the file's lock.
    var heldSince = ContinuousClock.now
    /// Whether the file's lock is to be released before the next commit.
    var mustRelease = false
    /// A group of commits that this handle decided and that every store has learned of.
    var settledGroup: StoredUUID?
    /// The superblock written or read last.
    var superblock: Superblock
    /// Whether there was no room to write it. Its generation is then that of the newest one in the file.
    var isSuperblockPending = false
    /// The mark of the header in which `superblock` is the newest; nil if the header must be read again.
    var mark: HeaderMark? {
        didSet { knownHeader.digest.store(mark?.digest ?? 0, ordering: .releasing) }
    }
    let knownHeader = KnownHeader()
    /// The offset of the next frame, behind the newest commit and checkpoint.
    var end: UInt64
    /// If the log ends here, everything before it except superblocks is on the disk.
    var syncedEnd: UInt64 = 0
    /// Bytes of commits that the newest checkpoint does not have; those of indexes that were built since, and of their rows, are added.
    var bytesBehind: UInt64
    /// Bytes of commits whose index entries neither the newest checkpoint nor a scratch file has.
    var bytesUnspilled: UInt64
    /// The load that large commits have begun.
    var load = LoadState()
    /// The value of `bytesBehind` when a checkpoint failed last.
    var bytesBehindAtFailure: UInt64 = 0
    /// The file reaches to here. The bytes from `end` on are zeroes, unless a writer died.
    var zeroedEnd: UInt64
    var poison: StoreError?
    var isClosed = false
    /// Whether bytes that no superblock calls durable must be rewritten before anything else: this handle took up the file as a reader does,
    /// or there was no room.
    var mustRewrite = false
    /// Memory that transactions reuse.
    let buffer = FrameBuffer()
    var maintainers: IndexMaintainers?
    /// The log's end from which the handle checks next whether to compact the store.
    var compactionLookAt: UInt64 = 0

    init(_ opened: OpenedFile) {
        file = opened.snapshot.file
        base = opened.base
        superblock = opened.superblock
        end = opened.end
        bytesBehind = opened.bytesBehind
        bytesUnspilled = opened.bytesBehind
        zeroedEnd = opened.zeroedEnd
        isSuperblockPending = opened.lacksRoom
        mustRewrite = opened.lacksRoom
    }

    /// Remembers the header in which `superblock` is the newest. Not if a prepared commit may wait behind the log's end: that header is read
    /// each time.
    func remember(_ mark: HeaderMark?) { self.mark = superblock.isUnresolved && base == nil ? nil : mark }

    /// The newest superblock with the log's end moved.
    func superblock(upTo end: UInt64) -> Superblock {
        var superblock = self.superblock
        superblock.end = end
        return superblock
    }
}
