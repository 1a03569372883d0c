import Synchronization

/// One sync for the commits of several threads, and the threads that wait for it.
///
/// gathering -> ready -> syncing -> synced -> ended. A failure of an earlier sync ends it from any of the first two states.
///
/// Invariants:
/// 1. Of the threads that wait, the first that finds it ready syncs, or a thread that holds the writer's lock does. No two syncs of a file overlap:
///    the system reports a failure to one of them only.
/// 2. The thread that syncs needs no lock before it is synced, so a holder of the writer's lock may wait for that.
/// 3. It ends once its commits are published, or never will be.
final class SharedSync: Sendable {
    private enum State: UInt8, AtomicRepresentable {
        /// Commits may still be added to it.
        case gathering
        /// The sync may begin.
        case ready
        case syncing
        /// The outcome is known; no reader sees the commits yet.
        case synced
        case ended
    }

    private let file: LogFile
    private let state = Atomic<State>(.gathering)
    private let condition = WaitCondition()
    private let error = Mutex<StoreError?>(nil)

    init(_ file: LogFile) { self.file = file }

    /// The reason why its commits are not acknowledged. Known once it is synced.
    var failure: StoreError? { error.withLock { $0 } }

    var isSynced: Bool {
        let state = state.load(ordering: .acquiring)
        return state == .synced || state == .ended
    }

    /// Adds no more commits to it.
    /// - Parameter wakesThread: false if the caller is about to wait for it, or to sync.
    func makeReady(wakesThread: Bool) {
        guard wakesThread else { return state.store(.ready, ordering: .releasing) }
        condition.changeForOne { state.store(.ready, ordering: .releasing) }
    }

    /// - Returns: whether the caller is the one to sync.
    func claim() -> Bool { state.compareExchange(expected: .ready, desired: .syncing, ordering: .acquiringAndReleasing).exchanged }

    /// Waits until it has ended, or is ready and the caller is the one to sync.
    /// - Returns: whether the caller is.
    func wait() -> Bool {
        var isClaimed = false
        condition.wait {
            isClaimed = claim()
            return isClaimed || state.load(ordering: .acquiring) == .ended
        }
        return isClaimed
    }

    /// Called by the thread that claimed it.
    /// - Parameter synced: wakes the threads that wait for the end.
    func run(_ counters: Counters, _ synced: WaitCondition) {
        do throws(StoreError) {
            try file.storage.sync()
            counters.synced()
        } catch {
            fail(error.asUncertain)
        }
        synced.change { state.store(.synced, ordering: .releasing) }
    }

    /// Keeps the first failure.
    func fail(_ failure: StoreError) { error.withLock { $0 = $0 ?? failure } }

    /// Lets the threads go.
    func end() { condition.change { state.store(.ended, ordering: .releasing) } }
}

/// Commits that are in the file, and that no reader sees before their sync.
struct UnsyncedCommits {
    let sync: SharedSync
    /// The newest of them.
    var newest: Snapshot
}
