import Synchronization

/// Following the commits of other handles and processes.
extension LogStore {
    /// Learns of commits that other handles and processes made before the call. If none is new, this is one look at the header in memory.
    ///
    /// If another thread of this handle is learning of them, this call waits for it, as long as a lock may take. If that thread waits for
    /// another process's lock, this call gives up after a few milliseconds and returns the newest commit known so far.
    /// - Returns: the newest commit that this handle knows.
    /// - Throws: `corrupt`; the handle keeps what it knew.
    /// - Complexity: O(1) if nothing is new, with no system call and no lock in a mapped file; else O(new log).
    @discardableResult
    public func follow() throws(StoreError) -> Snapshot {
        var outcome: Result<Void, StoreError>?
        var since: ContinuousClock.Instant?
        while outcome == nil {
            if isUpToDate(snapshot()) { return snapshot() }
            // A thread that the child process does not have may hold its lock.
            if isForked { throw ForkGeneration.refusal(path) }
            outcome = writerLock.holdIfAvailable(for: self) { locked in
                guard !locked.writer.isClosed, locked.writer.poison == nil else { return .success(()) }
                do throws(StoreError) { return .success(try locked.catchUp(isLocked: false)) } catch { return .failure(error) }
            }
            guard outcome == nil else { break }
            let now = ContinuousClock.now, start = since ?? now
            since = start
            guard now - start < (isAwaitingLock.load(ordering: .relaxed) ? Self.waitMin : max(Self.waitMin, options.lockTimeout)) else { break }
            // The standard library's mutex has no lock with a time limit.
            SystemThread.rest()
        }
        try outcome?.get()
        return snapshot()
    }

    private static let waitMin = Duration.milliseconds(5)

    /// Whether this handle knows every published commit. If true, the handle's newest snapshot, taken after this call, has all commits made
    /// before the call.
    /// - Parameter known: any snapshot of this handle. The result is false for one of a file that has been replaced.
    package func isUpToDate(_ known: Snapshot) -> Bool {
        showsPast || (try? known.file.headerMark().digest) == knownHeader.digest.load(ordering: .acquiring)
    }
}
