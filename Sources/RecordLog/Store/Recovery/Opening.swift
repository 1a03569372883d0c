/// A file that has been opened and recovered.
struct OpenedFile: Sendable {
    var snapshot: Snapshot
    /// The log's newest whole commit, if `snapshot` shows a prepared commit that no writer has completed yet.
    var base: Snapshot?
    /// The prepared commit at the log's end, as readers find it, if it waits for another store.
    var inDoubt: InDoubtCommit?
    var superblock: Superblock
    /// The offset of the next frame.
    let end: UInt64
    /// Bytes of the commits after the newest checkpoint, and of what indexes were built of that it does not have.
    let bytesBehind: UInt64
    let zeroedEnd: UInt64
    /// The damage in committed bytes that a reader passed over.
    let damage: StoreError?
    /// No room was left to write the superblock. `superblock` then has the content to write, with the generation of the newest superblock in
    /// the file.
    var lacksRoom = false

    init(snapshot: Snapshot, superblock: Superblock, end: UInt64, bytesBehind: UInt64, zeroedEnd: UInt64, damage: StoreError? = nil) {
        self.snapshot = snapshot
        self.superblock = superblock
        self.end = end
        self.bytesBehind = bytesBehind
        self.zeroedEnd = zeroedEnd
        self.damage = damage
    }
}

/// Opens a store: reads the header, loads the checkpoint, replays the log and decides about the tail. Spec: FORMAT.md, "Recovery".
///
/// It can be repeated after a crash at any point. Everything that it writes, a later opening writes again with the same result.
struct Opening {
    let path: String
    let options: StoreOptions
    let fileSystem: any FileSystem
    let counters: Counters
    /// Whether to ask the store that decides about a prepared commit.
    var asksOthers = true
    /// See `CommitCoordinator.held`.
    var held: [LockedStore] = []
    /// A reader shows no commit after the one with this number.
    var last: UInt64 = .max
    /// Whether to open a replica for writing.
    var promotes = false

    func run() throws(StoreError) -> OpenedFile {
        if options.isReadOnly {
            return try recover(try fileSystem.open(path, .readOnly))
        }
        // A compaction may put another file at the path while this process waits for the lock.
        var retry = LockRetry(path: path, timeout: options.lockTimeout)
        for _ in 0..<100 {
            let storage = try openForWriting()
            try storage.lock(timeout: options.lockTimeout)
            guard try fileSystem.identity(of: path) == storage.identity else {
                storage.unlock()
                continue
            }
            do throws(StoreError) {
                let opened = try recover(storage)
                storage.unlock()
                return opened
            } catch {
                storage.unlock()
                try retry.wait(for: error)
            }
        }
        throw StoreError(.locked, path: path, "the file is replaced again and again", remedy: "Stop the other process.")
    }

    private func openForWriting() throws(StoreError) -> any StorageFile {
        do throws(StoreError) {
            return try fileSystem.open(path, .readWrite)
        } catch {
            guard error.code == .notFound, options.createIfMissing else { throw error }
        }
        do throws(StoreError) {
            return try fileSystem.open(path, .create)
        } catch {
            guard error.code == .exists else { throw error }
            return try fileSystem.open(path, .readWrite)
        }
    }

    /// Recovers an open file; a writer holds its lock.
    /// - Parameters:
    ///   - isPublishedOnly: leaves out commits that no superblock names yet.
    ///   - mayCreate: whether an empty or never finished file becomes a store.
    func recover(_ storage: any StorageFile, isPublishedOnly: Bool = false, mayCreate: Bool = true) throws(StoreError) -> OpenedFile {
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        let count = try HeaderReader.read(storage, into: &header)
        // Read after the header, so the file already has all bytes that the header calls durable, even while another process writes.
        let size = try storage.size()
        if mayCreate, !options.isReadOnly, size <= FileFormat.dataStart, HeaderReader.isUnfinished(header) {
            guard options.createIfMissing || size > 0 else {
                throw StoreError(.notAStore, path: path, "the file is empty", remedy: "Check the path, or allow the store to be made.")
            }
            // The file was never used, or a crash came before its header was written.
            return try FileCreation(path: path, options: options, fileSystem: fileSystem, counters: counters)
                .initialize(storage, storeID: StoredUUID(words: (fileSystem.random(), fileSystem.random())))
        }
        let identity = try HeaderReader(path: path).identity(header, count: count, size: size)
        guard size >= FileFormat.dataStart else { throw StoreError.corrupt(path, at: size, "the file ends within its header") }
        let file = LogFile(storage: storage, path: path, identity: identity, maps: options.usesMemoryMapping, counters: counters)
        let superblock = HeaderReader.newestSuperblock(header, fileID: identity.fileID)
        if !options.isReadOnly, let superblock {
            if superblock.isSuperseded { try refuseSuperseded(superblock) }
            if superblock.isReplica, !promotes { throw StoreError.replica(path) }
        }
        file.extendReadable(to: options.isReadOnly ? min(size, superblock?.end ?? size) : size)
        var state = try startingState(file, superblock, size: size), last = last
        var limit = size
        var behind: UnpublishedTail?
        if options.isReadOnly, let superblock {
            limit = min(size, superblock.end)
            if !isPublishedOnly || superblock.isUnresolved {
                let tail = try unpublished(file, superblock, state, size: size)
                behind = tail
                limit = tail.end
                file.extendReadable(to: limit)
            }
        }
        if let past = options.asOf {
            (last, state) = try PastCommitSearch(
                file: file, superblock: superblock, limit: limit, options: options, counters: counters
            ).run(past)
        }
        let replay = Replay(file: file, from: state.snapshot, at: state.position, options: options)
        try replay.run(limit: limit, publishedEnd: superblock?.end, wholeEnd: superblock?.durableEnd ?? 0, through: last)
        counters.replayed(bytes: replay.commitBytes)
        // If the superblock names more than the log has, that is damage.
        let prepared = asksOthers && options.asOf == nil && superblock?.durableEnd ?? 0 <= replay.end ? behind?.prepared ?? replay.prepared : nil
        if let prepared, !options.isReadOnly { try complete(prepared, replay, file) }
        let snapshot = try replay.finish(counters: counters)
        counters.replayed(bytes: replay.builtBytes)
        if options.asOf != nil, snapshot.sequence < last { throw lacks(last, superblock, snapshot, at: replay.end) }
        var opened = try settle(
            snapshot, superblock: superblock, end: replay.end, size: try storage.size(), bytesBehind: replay.commitBytes + replay.builtBytes,
            hasCheckpoint: state.hasCheckpoint)
        if let prepared, options.isReadOnly { try show(prepared, replay, in: &opened) }
        return opened
    }

    /// The error for a commit at which a replay has not arrived: it has not been made yet, or lies behind damage.
    private func lacks(_ number: UInt64, _ superblock: Superblock?, _ newest: Snapshot, at end: UInt64) -> StoreError {
        if let superblock, superblock.sequence > newest.sequence {
            let reached = min(number, superblock.sequence)
            return StoreError.corrupt(path, at: end, "bytes that had been committed are damaged, and commit \(reached) lies behind them")
        }
        return StoreError.noSuchCommit(
            path, "the log has no commit \(number) yet", oldest: try? PastCommitSearch.oldest(of: newest.file), newest: newest.sequence)
    }

    /// Scans the log behind the published end for a reader. A writer that died may have left commits there; a live writer may be cutting off
    /// a torn tail. If the published bytes may be damaged by a crash too, the next writer may cut off some of them, so the scan then begins
    /// at `state`.
    private func unpublished(
        _ file: LogFile, _ superblock: Superblock, _ state: StartingState, size: UInt64
    ) throws(StoreError) -> UnpublishedTail {
        let isWhole = superblock.durableEnd >= superblock.end && superblock.end <= size && superblock.end >= state.position
        return try UnpublishedTail(
            file, behind: isWhole ? superblock.sequence : state.snapshot.sequence,
            checksum: isWhole ? superblock.commitChecksum : state.snapshot.commitChecksum,
            at: isWhole ? superblock.end : state.position, superblock: superblock, size: size)
    }

    /// Refuses a file that a compaction has replaced at the store's path, and that is still reachable by another name (a hard link). Writing
    /// to it would make a second store with the same identity. If nothing in this file was ever durable, the new file's name need not be
    /// durable either. A loss of power may then have put this file back, and it is the store.
    private func refuseSuperseded(_ superblock: Superblock) throws(StoreError) {
        guard superblock.durableSequence > 0 else { return }
        throw StoreError(
            .superseded, path: path, "a compaction or a copy has replaced this file, which another name (a hard link) still leads to",
            remedy: "Open the store by its own path. To go on from this state make a new store from it: "
                + "`heartwood compact \(ShellWord.quoted(path)) --to NEW`, or `LogStore.copy` of a handle that only reads.")
    }

    // MARK: Saves over several stores

    private func coordinatorStore(_ prepared: PreparedCommit) -> CommitCoordinator {
        CommitCoordinator(prepared: prepared, path: path, options: options, fileSystem: fileSystem, held: held)
    }

    /// Writes the commit frame that a prepared commit lacks, if the coordinator's store has decided for it. A crash here leaves the prepared
    /// frame, and the next opening tries again.
    private func complete(_ prepared: PreparedCommit, _ replay: Replay, _ file: LogFile) throws(StoreError) {
        guard try coordinatorStore(prepared).settle() else { return }
        let (appender, frame) = try prepared.completion(in: file, counters: counters)
        try appender.flush()
        try replay.take(prepared, frame, end: appender.position)
    }

    /// Shows a prepared commit as a writer will complete it, if the coordinator's store has decided for it.
    private func show(_ prepared: PreparedCommit, _ replay: Replay, in opened: inout OpenedFile) throws(StoreError) {
        let answer = coordinatorStore(prepared).ask()
        opened.inDoubt = InDoubtCommit(prepared, answer)
        guard case .committed = answer else { return }
        opened.snapshot.file.extendReadable(to: prepared.end)
        let (appender, frame) = try prepared.completion(in: opened.snapshot.file, counters: counters)
        try replay.take(prepared, frame, end: appender.position)
        opened.base = opened.snapshot
        opened.snapshot = try replay.finish(counters: counters)
    }

    // MARK: Checkpoint

    private typealias StartingState = (snapshot: Snapshot, position: UInt64, hasCheckpoint: Bool)

    /// The state of the newest checkpoint, or of an empty store if no checkpoint exists or it cannot be read.
    private func startingState(
        _ file: LogFile, _ superblock: Superblock?, size: UInt64
    ) throws(StoreError) -> StartingState {
        if let superblock, !superblock.checkpoint.isNone, !options.rebuildsIndexes, superblock.checkpoint.offset < size,
            let loaded = try? CheckpointReader(file: file, counters: counters).load(superblock.checkpoint, size: size)
        {
            return (loaded.snapshot, loaded.end, true)
        }
        return (Snapshot.empty(file, counters), FileFormat.dataStart, false)
    }

    // MARK: Tail

    /// Classifies the bytes behind the last commit, and cuts off a torn tail.
    private func settle(
        _ snapshot: Snapshot, superblock: Superblock?, end: UInt64, size: UInt64, bytesBehind: UInt64, hasCheckpoint: Bool
    ) throws(StoreError) -> OpenedFile {
        let file = snapshot.file
        let isAsPublished = superblock.map { $0.end == end && $0.sequence == snapshot.sequence } ?? false
        func opened(_ superblock: Superblock?, zeroedEnd: UInt64, damage: StoreError? = nil) -> OpenedFile {
            OpenedFile(
                snapshot: snapshot, superblock: superblock ?? Superblock(), end: end, bytesBehind: bytesBehind, zeroedEnd: zeroedEnd,
                damage: damage)
        }
        func corrupt(_ offset: UInt64, _ evidence: String) -> StoreError {
            StoreError.corrupt(path, at: offset, "bytes that had been committed are damaged: \(evidence)")
        }
        if options.isReadOnly {
            guard let (offset, evidence) = try publishedDamage(file, snapshot, superblock, end: end, size: size) else {
                return opened(superblock, zeroedEnd: end)
            }
            let damage = corrupt(offset, evidence)
            guard options.acceptsDamage else { throw damage }
            return opened(superblock, zeroedEnd: end, damage: damage)
        }
        let examination = TailExamination(file: file, sequence: snapshot.sequence, end: end, size: size, superblock: superblock)
        let tail = try examination.run()
        if case .corrupt(let offset, let evidence) = tail {
            throw examination.mayBeCopyOfOpenFile ? copyOfOpenFile(offset, evidence, snapshot.sequence) : corrupt(offset, evidence)
        }
        var zeroedEnd = max(size, end)
        if case .torn = tail {
            // (7) Nothing is appended after damaged bytes without truncation and sync.
            try file.storage.truncate(to: end)
            file.cutReadable(to: end)
            file.forgetVerified(from: end, to: size)
            if options.durability != .none { try file.storage.sync() }
            zeroedEnd = end
        }
        var new = superblock ?? Superblock(), lacksRoom = false
        do throws(StoreError) {
            try publish(snapshot, &new, end: end, isAsPublished: isAsPublished, hasCheckpoint: hasCheckpoint)
        } catch {
            // The store can still be read, and the first transaction finds out whether there is room by then.
            guard error.code == .noSpace, superblock != nil else { throw error }
            lacksRoom = true
        }
        var result = opened(new, zeroedEnd: zeroedEnd)
        result.lacksRoom = lacksRoom
        return result
    }

    /// Returns the damage that a reader can be sure of: damage before the end that the superblock names, which was read before the log. Bytes
    /// behind that end may be a writer's unfinished work.
    private func publishedDamage(
        _ file: LogFile, _ snapshot: Snapshot, _ superblock: Superblock?, end: UInt64, size: UInt64
    ) throws(StoreError) -> (offset: UInt64, evidence: String)? {
        guard let superblock, max(superblock.end, superblock.durableEnd) > end, last == .max, options.asOf == nil else { return nil }
        let tail = try TailExamination(
            file: file, sequence: snapshot.sequence, end: end, size: min(size, max(end, superblock.end), file.sizeMax),
            superblock: superblock, fileSize: size
        ).run()
        guard case .corrupt(let offset, let evidence) = tail else { return nil }
        // A writer may have cut off a torn tail since, and written commits at its offset.
        let now = HeaderReader.newestSuperblock(try HeaderReader.header(of: file.storage), fileID: file.identity.fileID)
        return superblock.durableEnd > end || now?.generation == superblock.generation ? (offset, evidence) : nil
    }

    private func copyOfOpenFile(_ offset: UInt64, _ evidence: String, _ sequence: UInt64) -> StoreError {
        StoreError(
            .corrupt, path: path, at: offset,
            "bytes that had been committed are damaged, or the file is a copy that was made during a save: \(evidence)",
            remedy: "Commits up to \(sequence) are whole: `heartwood compact \(ShellWord.quoted(path)) --to NEW` makes a store of them. "
                + "If this is no copy, that loses the later commits: run `heartwood verify` first, "
                + "restore a backup, or bring out more with `heartwood salvage`.")
    }

    /// Makes the recovered log durable, and writes a superblock that names it unless the newest one does.
    /// - Parameter new: the newest superblock on entry, and the written one on return. If the write fails, it keeps the old generation.
    /// - Throws: also `noSpace`, if a copy-on-write file system has no room for the overwritten blocks.
    private func publish(
        _ snapshot: Snapshot, _ new: inout Superblock, end: UInt64, isAsPublished: Bool, hasCheckpoint: Bool
    ) throws(StoreError) {
        let file = snapshot.file
        let isSettling = options.durability != .none && new.isUnsettled
        if options.durability != .none, new.durableEnd < end {
            // (4) Bytes that no superblock calls durable may be in pages that a failed sync left clean. The next sync must find them dirty.
            try file.rewrite(from: new.durableEnd, to: end)
        }
        if isSettling { try fileSystem.syncDirectory(of: path) }
        guard !isAsPublished || isSettling || new.isUnresolved else { return }
        new.isUnresolved = false
        new.isUnsettled = options.durability == .none && new.isUnsettled
        if !isAsPublished {
            new.sequence = snapshot.sequence
            new.end = end
            new.commitChecksum = snapshot.commitChecksum
            new.durableSequence = min(new.durableSequence, snapshot.sequence)
            new.durableEnd = min(new.durableEnd, end)
            if !hasCheckpoint { new.checkpoint = .none }
            if options.durability != .none {
                do throws(StoreError) {
                    try file.storage.sync()
                } catch {
                    throw error.asUncertain
                }
                new.durableSequence = new.sequence
                new.durableEnd = new.end
            }
        }
        var written = new
        written.generation += 1
        try FileCreation.write(written, to: file.storage, fileID: file.identity.fileID)
        new = written
    }
}
