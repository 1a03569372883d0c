import Synchronization

/// One write: the locks, the transaction, what becomes of it.
extension LockedStore {
    /// Takes the file's lock, catches up with other processes, and runs `body`.
    func withFileLock<Result>(_ body: (LockedStore) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try beginWriting()
        defer { writer.file.storage.unlock() }
        return try body(self)
    }

    /// See `LogStore.write(author:_:)`.
    func write(author: String?, _ body: (Transaction) throws -> Void) throws {
        try store.check(author: author)
        try beginAppending()
        var hasAppended = false
        defer { endAppending(hasAppended: hasAppended) }
        let transaction = makeTransaction()
        defer { writer.buffer.trim() }
        do {
            try body(transaction)
            try checkWhole(transaction)
            // The body may have forked.
            try check()
            guard transaction.hasChanges else {
                // Values may have been written that no row refers to.
                abandon(transaction.appender)
                return
            }
            try transaction.finish()
            if sharesSync() {
                try commitAhead(transaction, author: author)
                hasAppended = true
                return
            }
            try commit(transaction, author: author)
        } catch {
            abandon(transaction.appender)
            throw error
        }
        checkpointIfDue()
        announceCompactionIfDue()
    }

    /// A transaction over the newest commit, which is known and locked.
    func makeTransaction() -> Transaction {
        let base = newestAppended
        let appender = FrameAppender(
            file: base.file, at: writer.end, sequence: base.sequence + 1, counters: counters, isSyncedSoon: options.durability != .none,
            flushSize: options.pieceSize, buffer: writer.buffer)
        return Transaction(base: base, appender: appender, maintainers: maintainers(of: base.catalog))
    }

    /// A closure may have swallowed an error of its transaction.
    func checkWhole(_ transaction: Transaction) throws(StoreError) {
        if let failure = transaction.appender.failure { throw failure }
        if !transaction.hasChanges, let failure = transaction.failure { throw failure }
    }

    private func maintainers(of catalog: Catalog) -> IndexMaintainers {
        if let known = writer.maintainers, known.catalog === catalog { return known }
        let made = IndexMaintainers(catalog: catalog, options: options, path: path)
        writer.maintainers = made
        return made
    }

    /// Discards a failed transaction or checkpoint. Cuts off the bytes that it flushed, to free their space and so that only zeroes follow
    /// the log's end. If the cut fails, the next commit overwrites them. A footer names its commit's frames by their checksums, so left-over
    /// frames never pass for part of another commit.
    func abandon(_ appender: FrameAppender) {
        // The code below handles its failure.
        try? appender.settle()
        if let failure = appender.failure, failure.code != .noSpace { writer.poison = writer.poison ?? failure }
        guard writer.poison == nil, appender.base > writer.end || appender.failure != nil else { return }
        cutTail()
    }

    /// Removes the frames that a checkpoint has written from `end` on, and that no superblock has published.
    func takeBack(to end: UInt64) {
        guard writer.end > end, writer.poison == nil else { return }
        writer.end = end
        cutTail()
    }

    /// Cuts off the bytes behind the log's end.
    func cutTail() {
        let file = writer.file
        writer.syncedEnd = 0
        // Even if the cut fails.
        file.forgetVerified(from: writer.end, to: file.readableEnd)
        guard let size = try? file.storage.size(), size > writer.end, (try? file.storage.truncate(to: writer.end)) != nil else { return }
        file.cutReadable(to: writer.end)
        writer.zeroedEnd = writer.end
    }

    /// Takes the file's lock and catches up with other processes.
    /// - Parameters:
    ///   - held: see `CommitCoordinator.held`.
    ///   - timeout: nil for that of the options.
    func beginWriting(holding held: [LockedStore] = [], within timeout: Duration? = nil) throws(StoreError) {
        finishSyncs()
        try check()
        try store.checkForWriting()
        // The store that decides about this one's newest commit may have a writer that waits for this one.
        let timeout = timeout ?? options.lockTimeout
        var retry = LockRetry(path: path, timeout: timeout)
        while true {
            try lockFile(within: timeout)
            do throws(StoreError) {
                try catchUp(isLocked: true, holding: held)
                guard !writer.superblock.isReplica else { throw StoreError.replica(path) }
                return try rememberHeader()
            } catch {
                writer.file.storage.unlock()
                try retry.wait(for: error)
            }
        }
    }

    private func lockFile(within timeout: Duration) throws(StoreError) {
        store.isAwaitingLock.store(true, ordering: .relaxed)
        defer { store.isAwaitingLock.store(false, ordering: .relaxed) }
        try writer.file.storage.lock(timeout: timeout)
    }

    /// Makes all commits so far durable.
    func syncCommits() throws(StoreError) {
        guard writer.superblock.durableSequence < writer.superblock.sequence else { return announceWaiting() }
        try syncFile()
        var superblock = writer.superblock
        superblock.durableSequence = superblock.sequence
        superblock.durableEnd = superblock.end
        try announce(superblock)
    }

    /// See `LogStore.close()`.
    func close() throws(StoreError) {
        guard !writer.isClosed else { return }
        finishSyncs()
        defer {
            writer.isClosed = true
            store.noteClosed()
        }
        guard !options.isReadOnly else { return }
        if writer.poison != nil {
            // (4) Commits that this close should make durable cannot become durable. Other commits have thrown their own errors.
            if options.durability != .none, writer.superblock.durableSequence < writer.superblock.sequence { try check() }
            return
        }
        try beginWriting()
        defer { writer.file.storage.unlock() }
        let hasMuch = writer.bytesBehind > Self.checkpointAtClose, merging = closingMerging
        if hasMuch || writer.bytesBehind == 0 && snapshot().needsFlush(merging) { try writeCheckpoint(merging) }
        if options.durability != .none { try syncCommits() } else { announceWaiting() }
        // Remove the zeroes written ahead, so that the next opening has no tail to examine.
        if writer.zeroedEnd > writer.end { try writer.file.storage.truncate(to: writer.end) }
    }

    private static let checkpointAtClose: UInt64 = 64 << 10
}
