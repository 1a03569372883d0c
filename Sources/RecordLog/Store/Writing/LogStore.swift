import Synchronization

/// A store: tables of rows in one append-only file, with their indexes.
///
/// One process writes at a time, with one transaction at a time. Commits of several threads share syncs (`LockedStore+SharingSyncs.swift`). Any
/// number of threads and processes read at the same time without locks, each from its own snapshot. Safe to use from several threads.
///
/// The numbers in this folder's comments refer to docs/internals/log.md, "Invariants".
public final class LogStore: Sendable {
    /// The path by which it was opened.
    public let path: String
    /// The store's identity. A compaction keeps it.
    public let storeID: StoredUUID

    /// The damage, if the store was opened read-only although committed bytes are damaged. Snapshots then show the state before the damage.
    /// nil for a sound store. Opening a damaged store for writing, or without `StoreOptions.acceptsDamage`, throws this error.
    public let damage: StoreError?

    /// The prepared commit of a save over several stores, if the store was opened read-only while its log ended with one. Includes the answer
    /// that the deciding store gave at that time.
    public let inDoubt: InDoubtCommit?

    /// `StoreOptions.acceptsDamage` of the options.
    package var acceptsDamage: Bool { options.acceptsDamage }

    /// Whether the handle shows one commit of the past (`StoreOptions.asOf`), and learns of no other.
    package var showsPast: Bool { options.asOf != nil }

    let options: StoreOptions
    let fileSystem: any FileSystem
    let counters: Counters

    private let current: Mutex<Snapshot>
    private let published = Atomic<UInt64>(1)
    /// Held through each write.
    let writerLock: WriterLock
    /// The thread that holds it for a write; 0 for none.
    private let writingThread = WritingThread()
    /// The number of threads that wait for it to commit.
    let waiting = Atomic<Int>(0)
    /// The end of a sync that threads share.
    let syncEnd = WaitCondition()
    /// Whether the holder waits for another process.
    let isAwaitingLock = Atomic<Bool>(false)
    /// The end of the checkpoint that is written in the background, or of index entries that are spilled there.
    let backgroundCheckpoint = Completion(isFinished: true)
    /// The end of the index builds that a thread is about to make or makes.
    let indexBuilds = Completion(isFinished: true)
    /// The thread that builds indexes; 0 for none.
    let indexBuilder = Atomic<UInt>(0)
    /// Finished once the store is closed.
    let closing = Completion()
    /// Whether the store is compacting itself.
    let compacting = Atomic<AutomaticCompaction>(.idle)
    /// Changes with every return to idle.
    let compactionEnd = WaitCondition()
    /// The header that the writer's state knows.
    let knownHeader: KnownHeader
    private let fork = ForkGeneration.current
    /// Whether this process is a child of the one that opened the handle. It must wait for nothing of the handle, least of all its mutexes.
    var isForked: Bool { fork != ForkGeneration.current }

    /// Counts of this handle's work since it was opened.
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
        let writer = WriterState(opened)
        knownHeader = writer.knownHeader
        writerLock = WriterLock(writer)
    }

    /// Opens the store at `path`. Creates it if it does not exist and the options allow that.
    ///
    /// Opening reads the header, the newest checkpoint's manifest and the log behind it. A writer cuts off an incomplete last commit that a
    /// crash left, and a reader ignores it. A store whose committed bytes are damaged cannot be opened for writing.
    /// - Throws: `notAStore`, `unsupportedVersion`, `corrupt`, `notFound`, `isDirectory`, `permissionDenied`, `locked`.
    /// - Complexity: O(log behind the newest checkpoint).
    public static func open(path: String, options: StoreOptions = StoreOptions()) throws(StoreError) -> LogStore {
        var options = options
        if options.asOf != nil { options.isReadOnly = true }
        let fileSystem = options.resolvedFileSystem()
        let counters = Counters()
        let opening = Opening(path: path, options: options, fileSystem: fileSystem, counters: counters)
        let store = LogStore(path: path, options: options, fileSystem: fileSystem, opened: try opening.run(), counters: counters)
        if !options.isReadOnly {
            OpenStores.add(store)
            store.checkpointAfterLongReplay()
        }
        return store
    }

    // MARK: Reading

    /// The newest commit that this handle knows. Costs a retain under a short lock.
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

    /// A number that changes with each newer snapshot, and when the store is closed. Read it before taking a snapshot; as long as it is
    /// unchanged, the snapshot is the newest. Costs one load.
    package var publications: UInt64 { published.load(ordering: .acquiring) }

    /// The newest commit, including those of other processes. Takes no file lock.
    /// - Throws: `corrupt`; the handle keeps what it knew.
    /// - Complexity: O(1) if nothing is new, else O(new log).
    public func refresh() throws(StoreError) -> Snapshot {
        try exclusively { locked throws(StoreError) in
            try locked.check()
            try locked.catchUp(isLocked: false)
        }
        return snapshot()
    }

    // MARK: Writing

    func exclusively<Result>(_ body: (LockedStore) throws(StoreError) -> Result) throws(StoreError) -> Result {
        let outcome: Swift.Result<Result, StoreError> = try withWriteLock { locked in
            do throws(StoreError) { return .success(try body(locked)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Waits for other threads and runs `body`.
    /// - Throws: `invalidArgument` within a write by this thread, since it would wait forever. `closed` in a child of the process that opened
    ///   the store, since another thread's lock would never be released there.
    func withWriteLock<Result>(_ body: (LockedStore) -> Result) throws(StoreError) -> Result {
        holdForWriting(by: try checkEntry(), body)
    }

    /// - Returns: the calling thread.
    private func checkEntry() throws(StoreError) -> UInt {
        if isForked { throw ForkGeneration.refusal(path) }
        return try writingThread.enter(path)
    }

    private func holdForWriting<Result>(by thread: UInt, _ body: (LockedStore) -> Result) -> Result {
        writerLock.hold(for: self) { locked in writingThread.hold(by: thread) { body(locked) } }
    }

    /// Runs `body` with a transaction and commits its changes: one append, one sync if the durability asks for it, one superblock.
    ///
    /// Waits for other writers, in this process and others. `body` cannot write to the same store again (`invalidArgument`).
    ///
    /// A commit that leaves much log behind the newest checkpoint starts a new checkpoint. If that fails, the commit stands and later commits
    /// try again.
    /// - Parameter author: at most 1000 bytes of UTF-8, stored with the commit.
    /// - Throws: the error of `body`, `locked`, `noSpace` or `readOnly`; nothing is changed then. Any other failure to write poisons the
    ///   handle: only opening the store again shows whether the commit is durable.
    @inlinable
    public func write<Result>(author: String? = nil, _ body: (Transaction) throws -> Result) throws -> Result {
        var result: Result?
        try perform(author: author) { result = try body($0) }
        guard let result else { preconditionFailure("a transaction runs its body or throws") }
        return result
    }

    /// Not generic, since generics are slow across modules.
    @usableFromInline
    func perform(author: String?, _ body: (Transaction) throws -> Void) throws {
        var failure: (any Error)?
        if let sync = try append(author: author, failure: &failure, body) {
            // Also if it has failed: it was checked against commits that are not durable yet, and its caller looks at the published ones.
            do throws(StoreError) { try finish(sync) } catch { failure = error }
        }
        throttle()
        startCompactingIfDue()
        if let failure { throw failure }
    }

    /// Runs `body` and appends its commit.
    /// - Returns: the sync that must end before the caller goes on; nil if there is none.
    func append(author: String?, failure: inout (any Error)?, _ body: (Transaction) throws -> Void) throws(StoreError) -> SharedSync? {
        let thread = try checkEntry()
        waiting.add(1, ordering: .relaxed)
        return holdForWriting(by: thread) { locked in
            waiting.subtract(1, ordering: .relaxed)
            do { try locked.write(author: author, body) } catch { failure = error }
            // In a child process that `body` has made, no other thread ends the sync.
            return isForked ? nil : locked.unsynced
        }
    }

    /// Runs `body` under the store's lock and the file's, after catching up with other processes.
    func lockedForWriting<Result>(_ body: (LockedStore) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try exclusively { locked throws(StoreError) in try locked.withFileLock(body) }
    }

    /// As `lockedForWriting(_:)`. If `waiting` is false and another thread of this process is writing, does nothing.
    /// - Returns: whether `body` ran.
    func lockedForWriting(waiting: Bool, _ body: (LockedStore) throws(StoreError) -> Void) throws(StoreError) -> Bool {
        guard !waiting else {
            try lockedForWriting(body)
            return true
        }
        let outcome: Result<Void, StoreError>? = writerLock.holdIfAvailable(for: self) { locked in
            do throws(StoreError) { return .success(try locked.withFileLock(body)) } catch { return .failure(error) }
        }
        try outcome?.get()
        return outcome != nil
    }

    func check(author: String?) throws(StoreError) {
        guard let author, author.utf8.count > CommitFooter.authorLengthMax else { return }
        throw StoreError(
            .invalidArgument, path: path, "an author of \(author.utf8.count) bytes is too long",
            remedy: "Use at most \(CommitFooter.authorLengthMax) bytes.")
    }

    func checkForWriting() throws(StoreError) {
        guard options.isReadOnly else { return }
        guard !showsPast else {
            throw StoreError(
                .readOnly, path: path, "the store is open as of its commit \(snapshot().sequence), and the past does not change",
                remedy: "Open it without `asOf` to write.")
        }
        throw StoreError(.readOnly, path: path, "the store was opened read-only", remedy: "Open it for writing.")
    }

    /// Makes all commits so far durable, with any durability option.
    /// - Throws: `io`; the handle is poisoned then.
    public func sync() throws(StoreError) {
        guard !options.isReadOnly else { return }
        try lockedForWriting { locked throws(StoreError) in try locked.syncCommits() }
    }

    /// Writes the current indexes to the file, so that the next opening reads them instead of replaying the log. Damaged indexes are rebuilt
    /// from the log.
    /// - Throws: as `write` does; the log is not harmed.
    public func checkpoint() throws(StoreError) {
        finishCheckpoint()
        try lockedForWriting { locked throws(StoreError) in
            try locked.writeCheckpoint()
            locked.announceCompactionIfDue()
        }
        startCompactingIfDue()
    }

    /// Rebuilds every index from the log and writes it to the file. Use it for damaged indexes. Rows are not touched.
    /// - Throws: `corrupt` if the log itself is damaged; as `write` does.
    /// - Complexity: O(log). `StoreOptions.indexMemory` bounds the memory.
    public func rebuildIndexes() throws(StoreError) {
        finishCheckpoint()
        try lockedForWriting { locked throws(StoreError) in try locked.writeCheckpoint(of: try locked.rebuilt(snapshot()), .whenClosing) }
    }

    /// Writes a checkpoint if the next opening gains by it, and releases the file. Snapshots stay readable. Does nothing if the store is
    /// closed already, or in a child of the process that opened the store.
    /// - Throws: as `write` does; `poisoned` if commits that no sync has reached cannot be made durable any more. The store is closed in any
    ///   case.
    public func close() throws(StoreError) {
        // The lock, the zeroes and the newest superblock are the parent's. The child's descriptor is closed with the handle.
        guard !isForked else { return }
        if !options.isReadOnly { awaitIndexBuilds() }
        stopCompacting()
        // A commit on another thread may have announced a compaction. None is announced after this.
        defer { stopCompacting() }
        finishCheckpoint()
        try exclusively { locked throws(StoreError) in try locked.close() }
    }

    /// As the handle closes, under its lock.
    func noteClosed() {
        closing.finish()
        published.add(1, ordering: .releasing)
    }
}
