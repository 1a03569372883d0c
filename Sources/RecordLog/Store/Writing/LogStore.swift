import Synchronization

/// A store: tables of rows in one append-only file, with their indexes.
///
/// One process writes at a time, and in it one transaction; any number read at the same time, without locks, each from a
/// snapshot of its own. Safe to use from several threads.
///
/// The invariants are those of ARCHITECTURE.md, "Invariants"; the numbers in this folder's comments refer to them.
public final class LogStore: Sendable {
    /// As it was opened.
    public let path: String
    /// The identity that compaction keeps.
    public let storeID: (UInt64, UInt64)

    /// Set where the store was opened read-only although bytes that had been committed are damaged: snapshots then show
    /// what comes before the damage. nil for a sound store; opening a damaged one for writing, or without `StoreOptions.acceptsDamage`, throws
    /// this.
    public let damage: StoreError?

    /// Set where the store was opened read-only and its log ended with a part of a save over several stores about which another store
    /// decides; says what that one answered then.
    public let inDoubt: InDoubtCommit?

    /// As the options say.
    public var acceptsDamage: Bool { options.acceptsDamage }

    let options: StoreOptions
    let fileSystem: any FileSystem
    let counters: Counters

    private let current: Mutex<Snapshot>
    private let published = Atomic<UInt64>(1)
    /// Held through each write; guards `writer`.
    let writeLock = Mutex(())
    /// The thread that has it for a write; 0 for none.
    private let writingThread = Atomic<UInt>(0)
    /// Whether who has it waits for another process.
    let isAwaitingLock = Atomic<Bool>(false)
    /// The end of the checkpoint that is written in the background.
    let backgroundCheckpoint = Completion(isFinished: true)
    /// Whether the store is compacting itself.
    let compacting = Atomic<AutomaticCompaction>(.idle)
    /// Changes with every return to idle.
    let compactionEnd = WaitCondition()
    let writer: Writer

    /// What the handle has done since it was opened.
    public var statistics: StoreStatistics { counters.values }

    init(path: String, options: StoreOptions, fileSystem: any FileSystem, opened: OpenedFile, counters: Counters) {
        self.path = path
        self.options = options
        self.fileSystem = fileSystem
        self.counters = counters
        storeID = opened.snapshot.file.identity.storeID
        damage = opened.damage
        inDoubt = opened.inDoubt
        current = Mutex(opened.snapshot)
        writer = Writer(opened)
    }

    /// Opens the store at `path`, and makes it where there is none and the options allow it.
    ///
    /// Opening reads the header, the newest checkpoint's manifest and the log behind it. An incomplete last commit, left by
    /// a crash, is cut off by a writer and ignored by a reader; damage to what had been committed is refused for writing.
    /// - Throws: `notAStore`, `unsupportedVersion`, `corrupt`, `notFound`, `isDirectory`, `permissionDenied`, `locked`.
    /// - Complexity: O(log behind the newest checkpoint).
    public static func open(path: String, options: StoreOptions = StoreOptions()) throws(StoreError) -> LogStore {
        let fileSystem = options.resolvedFileSystem()
        let counters = Counters()
        let opening = Opening(path: path, options: options, fileSystem: fileSystem, counters: counters)
        let store = LogStore(path: path, options: options, fileSystem: fileSystem, opened: try opening.run(), counters: counters)
        if !options.isReadOnly { OpenStores.add(store) }
        return store
    }

    // MARK: Reading

    /// The newest commit that this handle knows. A retain under a short lock.
    public func snapshot() -> Snapshot {
        current.withLock { $0 }
    }

    func publish(_ snapshot: Snapshot) {
        let old = current.withLock { current in
            defer { current = snapshot }
            return current.file
        }
        if old !== snapshot.file { old.noteReplacement() }
        published.add(1, ordering: .releasing)
    }

    /// A number that changes with each newer snapshot, and when the store is closed: whoever asks for it before taking a snapshot
    /// learns by asking again whether that is the newest still, at the cost of one load.
    public var publications: UInt64 { published.load(ordering: .acquiring) }

    /// The newest commit, those of other processes included. Takes no file lock.
    /// - Throws: `corrupt`; the handle keeps what it knew.
    /// - Complexity: O(1) where nothing is new, else O(new log).
    public func refresh() throws(StoreError) -> Snapshot {
        try exclusively { () throws(StoreError) in
            try writer.check(path: path)
            try catchUp(isLocked: false)
        }
        return snapshot()
    }

    // MARK: Writing

    func exclusively<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        // The lock's own closure wants results that may cross threads; this one stays on its thread.
        var outcome: Swift.Result<Result, StoreError>?
        try withWriteLock {
            do throws(StoreError) { outcome = .success(try body()) } catch { outcome = .failure(error) }
        }
        guard let outcome else { preconditionFailure("a lock runs its body") }
        return try outcome.get()
    }

    /// Waits for other threads and runs `body`.
    /// - Throws: `invalidArgument` within a write of this thread's, for which it would wait for ever; `closed` in a child of the process that
    ///   opened the store, where another thread's lock would be waited for as long.
    func withWriteLock(_ body: () -> Void) throws(StoreError) {
        if writer.isForked { throw ForkGeneration.refusal(path) }
        let own = SystemThread.current
        guard own == 0 || writingThread.load(ordering: .relaxed) != own else {
            throw StoreError(
                .invalidArgument, path: path, "the store is being written to by this thread, in the midst of which it is to be written to again",
                remedy: "Write after that; what is called during a write, as the handler of a batch insertion is, may only read.")
        }
        writeLock.withLock { _ in
            writingThread.store(own, ordering: .relaxed)
            body()
            writingThread.store(0, ordering: .relaxed)
        }
    }

    /// Runs `body` with a transaction and commits what it did: one append, one sync by the durability, one superblock.
    ///
    /// Waits for other writers, in this process and others. `body` cannot write to the same store again (`invalidArgument`).
    ///
    /// A commit that leaves much log behind the newest checkpoint makes a new one; should that fail, the commit stands and
    /// the next ones try again.
    /// - Parameter author: at most 1000 bytes of UTF-8, kept with the commit.
    /// - Throws: what `body` throws, `locked`, `noSpace` or `readOnly`, and nothing is changed then; any other failure to
    ///   write poisons the handle: whether the commit is durable is not known until the store is opened again.
    @inlinable
    public func write<Result>(author: String? = nil, _ body: (Transaction) throws -> Result) throws -> Result {
        var result: Result?
        try perform(author: author) { result = try body($0) }
        guard let result else { preconditionFailure("a transaction runs its body or throws") }
        return result
    }

    /// The same without generics, which are slow across modules.
    @usableFromInline
    func perform(author: String?, _ body: (Transaction) throws -> Void) throws {
        var failure: (any Error)?
        try withWriteLock {
            do { try lockedWrite(author: author, body) } catch { failure = error }
        }
        throttle()
        startCompactingIfDue()
        if let failure { throw failure }
    }

    /// Runs `body` under the store's lock and the file's, after learning what others have written.
    func lockedForWriting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try exclusively { () throws(StoreError) in try withFileLock(body) }
    }

    /// The same, or nothing where another thread of this process is writing and is not to be waited for.
    /// - Returns: whether it ran.
    func lockedForWriting(waiting: Bool, _ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
        guard !waiting else {
            try lockedForWriting(body)
            return true
        }
        let outcome: Result<Void, StoreError>? = writeLock.withLockIfAvailable { _ in
            do throws(StoreError) { return .success(try withFileLock(body)) } catch { return .failure(error) }
        }
        try outcome?.get()
        return outcome != nil
    }

    private func withFileLock<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try beginWriting()
        defer { writer.file.storage.unlock() }
        return try body()
    }

    private func lockedWrite(author: String?, _ body: (Transaction) throws -> Void) throws {
        try check(author: author)
        try beginWriting()
        defer { writer.file.storage.unlock() }
        let transaction = makeTransaction()
        defer { writer.buffer.trim() }
        do {
            try body(transaction)
            try checkWhole(transaction)
            // The body may have forked.
            try writer.check(path: path)
            guard transaction.hasChanges else {
                // Values may have been written that no row took.
                abandon(transaction.appender)
                return
            }
            try transaction.finish()
            try commit(transaction, author: author)
        } catch {
            abandon(transaction.appender)
            throw error
        }
        checkpointIfDue()
        announceCompactionIfDue()
    }

    func check(author: String?) throws(StoreError) {
        guard let author, author.utf8.count > CommitFooter.authorLengthMax else { return }
        throw StoreError(
            .invalidArgument, path: path, "an author of \(author.utf8.count) bytes is too long",
            remedy: "Use at most \(CommitFooter.authorLengthMax) bytes.")
    }

    /// A transaction over the newest commit, which is known and locked.
    func makeTransaction() -> Transaction {
        let base = snapshot()
        let appender = FrameAppender(
            file: base.file, at: writer.end, sequence: base.sequence + 1, counters: counters, isSyncedSoon: options.durability != .none,
            flushSize: options.flushSize, buffer: writer.buffer)
        return Transaction(base: base, appender: appender, maintainers: maintainers(of: base.catalog))
    }

    /// A closure may have swallowed what its transaction threw.
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

    /// Forgets a transaction or checkpoint that failed: what it flushed is cut off, for its space and so that nothing
    /// follows the log's end but zeroes. Should the cut fail, the next commit writes over it: a footer names the frames
    /// of its own commit by their checksums, so what is left behind never passes for a part of another.
    func abandon(_ appender: FrameAppender) {
        // A failure of it is told below.
        try? appender.settle()
        if let failure = appender.failure, failure.code != .noSpace { writer.poison = writer.poison ?? failure }
        guard writer.poison == nil, appender.base > writer.end || appender.failure != nil else { return }
        cutTail()
    }

    /// Takes back what a checkpoint has placed from `end` on, and no superblock has published.
    func takeBack(to end: UInt64) {
        guard writer.end > end, writer.poison == nil else { return }
        writer.end = end
        cutTail()
    }

    /// Cuts off what follows the log's end.
    func cutTail() {
        let file = writer.file
        writer.syncedEnd = 0
        // Whether or not it can be cut off.
        file.forgetVerified(from: writer.end, to: file.readableEnd)
        guard let size = try? file.storage.size(), size > writer.end, (try? file.storage.truncate(to: writer.end)) != nil else { return }
        file.cutReadable(to: writer.end)
        writer.zeroedEnd = writer.end
    }

    func checkForWriting() throws(StoreError) {
        guard options.isReadOnly else { return }
        throw StoreError(.readOnly, path: path, "the store was opened read-only", remedy: "Open it for writing.")
    }

    /// Takes the file's lock and learns what others have written.
    /// - Parameter held: see `CommitCoordinator.held`.
    func beginWriting(holding held: [LogStore] = []) throws(StoreError) {
        try writer.check(path: path)
        try checkForWriting()
        // The store that decides about this one's newest commit may be being written to, by a writer that waits for this one.
        var patience = LockRetry(path: path, timeout: options.lockTimeout)
        while true {
            try lockFile()
            do throws(StoreError) {
                try catchUp(isLocked: true, holding: held)
                return try rememberHeader()
            } catch {
                writer.file.storage.unlock()
                try patience.wait(for: error)
            }
        }
    }

    private func lockFile() throws(StoreError) {
        isAwaitingLock.store(true, ordering: .relaxed)
        defer { isAwaitingLock.store(false, ordering: .relaxed) }
        try writer.file.storage.lock(timeout: options.lockTimeout)
    }

    /// Makes everything committed so far durable, whatever the durability.
    /// - Throws: `io`; the handle is poisoned then.
    public func sync() throws(StoreError) {
        guard !options.isReadOnly else { return }
        try lockedForWriting { () throws(StoreError) in try syncCommits() }
    }

    private func syncCommits() throws(StoreError) {
        guard writer.superblock.durableSequence < writer.superblock.sequence else { return announceWaiting() }
        try syncFile()
        var superblock = writer.superblock
        superblock.durableSequence = superblock.sequence
        superblock.durableEnd = superblock.end
        try announce(superblock)
    }

    /// Writes the indexes as of now to the file, so that the next opening reads them in place of the log.
    /// Indexes that turn out to be damaged are made anew from the log.
    /// - Throws: as `write` does; the log is not harmed.
    public func checkpoint() throws(StoreError) {
        finishCheckpoint()
        try lockedForWriting { () throws(StoreError) in
            try writeCheckpoint()
            announceCompactionIfDue()
        }
        startCompactingIfDue()
    }

    /// Makes every index anew from the log and writes them to the file: for indexes that are damaged. Rows are not touched.
    /// - Throws: `corrupt` where the log itself is damaged; as `write` does.
    /// - Complexity: O(log); memory as `StoreOptions.indexMemory` says.
    public func rebuildIndexes() throws(StoreError) {
        finishCheckpoint()
        try lockedForWriting { () throws(StoreError) in try writeCheckpoint(of: try rebuilt(snapshot()), .whenClosing) }
    }

    /// Writes a checkpoint where the next opening would gain by it, and lets go of the file. Snapshots stay readable.
    /// Calling it again does nothing, nor does calling it in a child of the process that opened the store.
    /// - Throws: as `write` does; `poisoned` where commits that no sync has reached cannot be made durable any more. The store
    ///   is closed in any case.
    public func close() throws(StoreError) {
        // The parent's lock, zeroes and newest superblock are its own. The child's descriptor goes with the handle.
        guard !writer.isForked else { return }
        stopCompacting()
        // One may have been announced by a commit on another thread; none is from now on.
        defer { stopCompacting() }
        finishCheckpoint()
        try exclusively { () throws(StoreError) in
            guard !writer.isClosed else { return }
            defer {
                writer.isClosed = true
                published.add(1, ordering: .releasing)
            }
            guard !options.isReadOnly else { return }
            if writer.poison != nil {
                // (4) Commits that were to become durable here cannot; of others their own errors have told.
                if options.durability != .none, writer.superblock.durableSequence < writer.superblock.sequence { try writer.check(path: path) }
                return
            }
            try beginWriting()
            defer { writer.file.storage.unlock() }
            let hasMuch = writer.bytesBehind > Self.checkpointAtClose
            if hasMuch || writer.bytesBehind == 0 && snapshot().needsFlush(.whenClosing) { try writeCheckpoint(.whenClosing) }
            if options.durability != .none { try syncCommits() } else { announceWaiting() }
            // The zeroes written ahead go, so that the next opening has no tail to examine.
            if writer.zeroedEnd > writer.end { try writer.file.storage.truncate(to: writer.end) }
        }
    }

    private static let checkpointAtClose: UInt64 = 64 << 10
}
