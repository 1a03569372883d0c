import Synchronization

/// Runs one piece of work on a separate thread. Its owner can stop it early.
final class StoppableThread: Sendable {
    private let stopped = Atomic<Bool>(false)
    private let end = Completion(isFinished: true)

    /// Whether the owner has stopped the work.
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Whether no thread runs: none was started, or its work has ended. The caller then sees the work's writes.
    var hasEnded: Bool { end.isFinished }

    /// - Returns: false if the system provides no thread; `work` does not run then.
    func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        end.begin()
        let isStarted = SystemThread.start { [self] in
            work()
            end.finish()
        }
        if !isStarted { end.finish() }
        return isStarted
    }

    /// Called by the work from time to time.
    /// - Throws: `cancelled` once the owner has stopped it.
    func check(_ path: String) throws(StoreError) {
        guard isStopped else { return }
        throw StoreError(.cancelled, path: path, "the operation that this work is a part of has ended", remedy: "The store is as it was.")
    }

    /// Returns once no thread runs, or after about so many milliseconds.
    func wait(atMost milliseconds: Int) { end.wait(atMost: milliseconds) }

    /// Stops the work, and waits until it has ended.
    func stop() {
        stopped.store(true, ordering: .releasing)
        end.wait()
    }
}
