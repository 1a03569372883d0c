/// The lock of a store's writer, around the state that it guards.
///
/// Invariants:
/// 1. Only the methods below make a `LockedStore`, for as long as their body runs, and `WriterState` is not sendable. So the compiler refuses an
///    access to the state without the lock.
/// 2. A body keeps neither.
struct WriterLock: ~Copyable, @unchecked Sendable {
    // Unchecked: only the holder of the mutex takes the state out (1, 2).
    private let mutex = SystemMutex()
    private let state: WriterState

    init(_ state: sending WriterState) { self.state = state }

    /// Waits for other threads and runs `body`.
    func hold<Result>(for store: LogStore, _ body: (LockedStore) -> Result) -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        return body(LockedStore(store: store, writer: state))
    }

    /// - Returns: nil if another thread holds the lock. `body` has not run then.
    func holdIfAvailable<Result>(for store: LogStore, _ body: (LockedStore) -> Result) -> Result? {
        guard mutex.lockIfAvailable() else { return nil }
        defer { mutex.unlock() }
        return body(LockedStore(store: store, writer: state))
    }
}

/// A store whose write lock this thread holds.
struct LockedStore {
    let store: LogStore
    let writer: WriterState

    fileprivate init(store: LogStore, writer: WriterState) {
        self.store = store
        self.writer = writer
    }

    var path: String { store.path }
    var options: StoreOptions { store.options }
    var fileSystem: any FileSystem { store.fileSystem }
    var counters: Counters { store.counters }

    func snapshot() -> Snapshot { store.snapshot() }

    func publish(_ snapshot: Snapshot) { store.publish(snapshot) }

    /// - Throws: `closed`, also in a child of the process that opened the store; `poisoned`.
    func check() throws(StoreError) {
        if store.isForked { throw ForkGeneration.refusal(path) }
        if writer.isClosed { throw StoreError(.closed, path: path, "the store is closed", remedy: "Open it again.") }
        if let poison = writer.poison {
            throw StoreError(
                .poisoned, path: path, "an earlier write failed (\(poison.message)), so nothing more is written through this handle",
                remedy: "Close the store and open it again: it recovers the committed rows.")
        }
    }
}

/// The log as a handle knows it at one moment.
struct KnownLog {
    let file: LogFile
    /// The end of the published log. See `WriterState`.
    let end: UInt64, superblock: Superblock
}

extension LogStore {
    /// Waits for a write. Must not be called within one.
    var log: KnownLog {
        writerLock.hold(for: self) { locked in
            let writer = locked.writer
            return KnownLog(file: writer.file, end: locked.isAhead ? writer.superblock.end : writer.end, superblock: writer.superblock)
        }
    }
}
