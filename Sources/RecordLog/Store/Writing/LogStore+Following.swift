import Synchronization

/// Commits of others, as readers learn of them.
extension LogStore {
    /// Learns what other handles and processes have committed before the call: a look at the header in memory where nothing is new.
    ///
    /// Where another thread of this handle is about to learn it, that one is waited for, as long as a lock may take. One that waits for
    /// another process's lock may take longer; then, after a few milliseconds, what this handle knows has to do.
    /// - Returns: the newest commit that this handle knows.
    /// - Throws: `corrupt`; the handle keeps what it knew.
    /// - Complexity: O(1) and, in a mapped file, no call of the system and no lock where nothing is new, else O(new log).
    @discardableResult
    public func follow() throws(StoreError) -> Snapshot {
        var outcome: Result<Void, StoreError>?
        var since: ContinuousClock.Instant?
        while outcome == nil {
            if isUpToDate(snapshot()) { return snapshot() }
            // Its lock may be a thread's that the child has not got.
            if writer.isForked { throw ForkGeneration.refusal(path) }
            outcome = writeLock.withLockIfAvailable { _ in
                guard !writer.isClosed, writer.poison == nil else { return .success(()) }
                do throws(StoreError) { return .success(try catchUp(isLocked: false)) } catch { return .failure(error) }
            }
            guard outcome == nil else { break }
            let now = ContinuousClock.now, start = since ?? now
            since = start
            guard now - start < (isAwaitingLock.load(ordering: .relaxed) ? Self.patience : max(Self.patience, options.lockTimeout)) else { break }
            // The standard library's mutex has no lock with a time limit.
            SystemThread.rest()
        }
        try outcome?.get()
        return snapshot()
    }

    private static let patience = Duration.milliseconds(5)

    /// Whether nobody had published anything that this handle does not know of: its newest snapshot, taken after this, has all that was
    /// committed before.
    /// - Parameter known: any snapshot of this handle; one of a file that has been replaced is told no.
    public func isUpToDate(_ known: Snapshot) -> Bool {
        (try? known.file.headerMark().digest) == writer.knownHeader.load(ordering: .acquiring)
    }
}
