import Synchronization

/// One piece of work on a thread of its own, which its owner can tell to end early.
final class StoppableThread: Sendable {
    private let stopped = Atomic<Bool>(false)
    private let ended = Atomic<Bool>(true)

    /// Whether the owner has told the work to end.
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Whether no thread runs: none was started, or its work has ended. What the work has written is there then.
    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// - Returns: false where the system gives no thread; `work` is not run then.
    func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        ended.store(false, ordering: .releasing)
        let isStarted = SystemThread.start { [self] in
            work()
            ended.store(true, ordering: .releasing)
        }
        if !isStarted { ended.store(true, ordering: .releasing) }
        return isStarted
    }

    /// For the work, now and then.
    /// - Throws: `cancelled` once the owner has told it to end.
    func check(_ path: String) throws(StoreError) {
        guard isStopped else { return }
        throw StoreError(.cancelled, path: path, "the operation that this work is a part of has ended", remedy: "The store is as it was.")
    }

    /// Tells the work to end, and waits for that.
    func stop() {
        stopped.store(true, ordering: .releasing)
        while !hasEnded { LazyMemory.pause() }
    }
}
