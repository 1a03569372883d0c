import Synchronization

/// What a handle's writer knows; guarded by the store's write lock.
///
/// idle -> writing -> idle; a failed write or sync -> poisoned, for good.
final class Writer: @unchecked Sendable {
    // Unchecked: used under `LogStore.writeLock` alone.
    var file: LogFile
    /// The newest commit that is whole in the file, where the published snapshot shows one more: another store has decided for it, and
    /// nobody has completed it yet. Never set while the lock is held.
    var base: Snapshot?
    /// A group of commits that this handle decided and of which every store has heard.
    var settledGroup: UniqueID?
    /// The superblock written or read last.
    var superblock: Superblock
    /// Whether there was no room to write it: its generation is that of the newest one in the file.
    var isSuperblockPending = false
    /// Of the header in which that is the newest superblock; nil where that is to be found out.
    var mark: HeaderMark? {
        didSet { knownHeader.store(mark?.digest ?? 0, ordering: .releasing) }
    }
    /// Its digest, for who looks without the lock; 0 for nil.
    let knownHeader = Atomic<UInt64>(0)
    /// Where the next frame goes: behind the newest commit and checkpoint.
    var end: UInt64
    /// Up to here everything is on the disk, but for superblocks, where the log ends here.
    var syncedEnd: UInt64 = 0
    /// Bytes of commits that the newest checkpoint does not have.
    var bytesBehind: UInt64
    /// The same when a checkpoint failed last.
    var bytesBehindAtFailure: UInt64 = 0
    /// The file reaches to here, with zeroes from `end` on unless a writer died.
    var zeroedEnd: UInt64
    var poison: StoreError?
    private let fork = ForkGeneration.current
    /// Whether this is a child of the process that opened the handle. Then nothing of it may be waited for, its mutexes least of all.
    var isForked: Bool { fork != ForkGeneration.current }
    var isClosed = false
    /// Whether what no superblock calls durable is to be written again before anything else: this handle took up the file as a reader does, or when
    /// there was no room for it.
    var mustRewrite = false
    /// What transactions use again.
    let buffer = FrameBuffer()
    var maintainers: IndexMaintainers?
    /// Whether the store should compact itself is looked at once the log ends here.
    var compactionLookAt: UInt64 = 0

    init(_ opened: OpenedFile) {
        file = opened.snapshot.file
        base = opened.base
        superblock = opened.superblock
        end = opened.end
        bytesBehind = opened.bytesBehind
        zeroedEnd = opened.zeroedEnd
        isSuperblockPending = opened.lacksRoom
        mustRewrite = opened.lacksRoom
    }

    /// Takes the header in which `superblock` is the newest for known; one behind whose log something may wait is looked at each time.
    func remember(_ mark: HeaderMark?) { self.mark = superblock.isUnresolved && base == nil ? nil : mark }

    /// The newest superblock with the log's end moved.
    func superblock(upTo end: UInt64) -> Superblock {
        var superblock = self.superblock
        superblock.end = end
        return superblock
    }

    func check(path: String) throws(StoreError) {
        if isForked { throw ForkGeneration.refusal(path) }
        if isClosed { throw StoreError(.closed, path: path, "the store is closed", remedy: "Open it again.") }
        if let poison {
            throw StoreError(
                .poisoned, path: path, "an earlier write failed (\(poison.message)), so nothing more is written through this handle",
                remedy: "Close the store and open it again: it recovers what was committed.")
        }
    }
}
