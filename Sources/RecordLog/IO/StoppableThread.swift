import Synchronization

/// One piece of work on a thread of its own, which its owner can tell to end early.
final class StoppableThread: Sendable {
    private let stopped = Atomic<Bool>(false)
    private let end = Completion(isFinished: true)

    /// Whether the owner has told the work to end.
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Whether no thread runs: none was started, or its work has ended. What the work has written is there then.
    var hasEnded: Bool { end.isFinished }

    /// - Returns: false where the system gives no thread; `work` is not run then.
    func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        end.begin()
        let isStarted = SystemThread.start { [self] in
            work()
            end.finish()
        }
        if !isStarted { end.finish() }
        return isStarted
    }

    /// For the work, now and then.
    /// - Throws: `cancelled` once the owner has told it to end.
    func check(_ path: String) throws(StoreError) {
        guard isStopped else { return }
        throw StoreError(.cancelled, path: path, "the operation that this work is a part of has ended", remedy: "The store is as it was.")
    }

    /// Returns once no thread runs, or after about so many milliseconds.
    func wait(atMost milliseconds: Int) { end.wait(atMost: milliseconds) }

    /// Tells the work to end, and waits for that.
    func stop() {
        stopped.store(true, ordering: .releasing)
        end.wait()
    }
}
