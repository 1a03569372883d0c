/// One copy of a store, from its claim on the path to the file that has it.
///
/// The rows as of one commit and their indexes are written to a file beside the path, in table and row order; commits made meanwhile are
/// not in it. Nobody waits, but a writer of the store that is replaced, while the file gets its name.
///
/// Crash points, in order: before the rename there is a file beside the path that the next copy or compaction there removes, and what
/// was at the path is as it was; after it and before the directory is synced either may be at the path, and both are whole; after that
/// it is the copy, whose superblock says that its name is to be made durable first (9) until it is said to be.
struct StoreCopy {
    let source: LogStore
    /// Where it goes, links followed.
    let path: String
    /// Of the copy.
    let options: StoreOptions
    let storeID: (UInt64, UInt64)?
    let systemValues: [UInt64: [UInt8]]
    /// Whether a file at the path is replaced.
    let replaces: Bool
    let progress: ((CompactionProgress) -> Bool)?

    private var fileSystem: any FileSystem { options.resolvedFileSystem() }

    /// - Returns: how many rows were copied.
    func run() throws(StoreError) -> UInt64 {
        if let damage = source.damage { throw damage }
        try checkFree()
        let base = try newest()
        let file = try CompactionFile.claim(besides: path, like: model(), fileSystem)
        // Once it has the path this only lets go of its lock.
        defer { file.abandon() }
        try base.checkSpace(at: path, fileSystem, history: 0)
        let target = try CompactionTarget(
            file.storage, besides: base.file, storeID: storeID,
            FileCreation(path: path, options: options, fileSystem: fileSystem, counters: Counters()))
        let rows = try fill(target, base)
        let isDurable = options.durability != .none
        let opened = try target.finish(isDurable: isDurable)
        try put(file)
        guard isDurable else { return rows }
        var settled = opened.superblock
        settled.isUnsettled = false
        settled.generation += 1
        try FileCreation.write(settled, to: file.storage, fileID: target.file.identity.fileID)
        return rows
    }

    /// Whose permissions the copy gets: those of the file that it replaces, else the store's.
    private func model() throws(StoreError) -> any StorageFile {
        guard replaces, try fileSystem.identity(of: path) != nil else { return source.snapshot().file.storage }
        return try fileSystem.open(path, .readOnly)
    }

    /// The newest commit; where the path has got another file, or none, the newest that the handle knows.
    private func newest() throws(StoreError) -> Snapshot {
        do throws(StoreError) {
            return try source.refresh()
        } catch {
            guard error.code == .superseded || error.code == .notAStore else { throw error }
            let known = source.snapshot()
            // What the handle knows is gone where its own file was overwritten.
            guard try source.fileSystem.identity(of: source.path) != known.file.storage.identity else { throw error }
            return known
        }
    }

    private func fill(_ target: CompactionTarget, _ base: Snapshot) throws(StoreError) -> UInt64 {
        // Not even a catalog.
        guard base.sequence > 0 else { return 0 }
        var state = CompactionProgress(
            rowsDone: 0, rowsTotal: base.tables.reduce(0) { $0 + ($1?.rowCount ?? 0) }, commits: 0)
        func report() throws(StoreError) {
            guard let progress, !progress(state) else { return }
            throw StoreError(.cancelled, path: path, "the copy was cancelled", remedy: "What was at the path is as it was.")
        }
        let indexes = CompactionIndexes(base, target, source.options, report: report)
        try CompactionBase(base: base, target: target, timestamp: fileSystem.now(), systemValues: systemValues) { done throws(StoreError) in
            state.rowsDone = done
            try report()
        }.write()
        state.rowsDone = state.rowsTotal
        try indexes.write()
        try target.writeCheckpoint()
        return target.snapshot.tables.dropFirst().reduce(0) { $0 + ($1?.rowCount ?? 0) }
    }

    private func checkFree() throws(StoreError) {
        // A link that leads nowhere is somebody's too.
        guard !replaces, try fileSystem.identity(ofName: path) != nil else { return }
        throw StoreError(
            .exists, path: path, "there is a file already, which a copy does not replace",
            remedy: "Choose another path, or remove the file.")
    }

    /// Gives the file its name.
    private func put(_ file: CompactionFile) throws(StoreError) {
        // For all that were not there when the copy began.
        try checkFree()
        let old = replaces ? try lockOld() : nil
        defer { old?.unlock() }
        // Before the rename: without a descriptor left nothing is changed.
        let isDurable = options.durability != .none
        let directory = isDurable ? try fileSystem.openDirectory(of: file.path) : nil
        if let old { try file.storage.liken(to: old) }
        try file.rename(to: path)
        try directory?.sync()
        old?.supersede(path, isNameDurable: isDurable)
    }

    /// Writers of the file that is replaced wait, so that no commit is acknowledged which goes with it.
    private func lockOld() throws(StoreError) -> (any StorageFile)? {
        for _ in 0..<100 {
            guard let identity = try fileSystem.identity(of: path) else { return nil }
            let old = try fileSystem.open(path, .readWrite)
            try old.lock(timeout: options.lockTimeout)
            if old.identity == identity, try fileSystem.identity(of: path) == identity { return old }
            old.unlock()
        }
        throw StoreError(.locked, path: path, "the file is replaced again and again", remedy: "Stop the other process.")
    }
}

extension LogStore {
    /// Writes what the newest commit has, rows and indexes, to a new store. This one is as it was; others read and write meanwhile.
    ///
    /// This is the way to copy a store that is in use: a plain copy of its file may miss a commit in the midst of its log. It also makes a sound
    /// store of such a copy, opened read-only.
    ///
    /// Also brings out what a handle has whose file was removed or replaced.
    /// - Parameters:
    ///   - path: a crash at any point leaves what was there, or the copy, whole.
    ///   - storeID: the copy's identity; nil: the same, as the copy of a file has it.
    ///   - options: how the copy is made: its durability, file system and segment size.
    ///   - replacing: whether a file at the path is replaced, under its lock. Handles of it go over to a copy of the same identity that
    ///     has as many commits, and find `superseded` otherwise.
    ///   - systemValues: what rows of the system table hold in place of what they held.
    ///   - progress: called every few thousand rows; false cancels.
    /// - Returns: how many rows were copied.
    /// - Throws: `exists`; `corrupt` where a row is damaged; `locked` where another copy or a compaction to the path is under way;
    ///   `noSpace`, `cancelled`, `isDirectory`, `notFound`. What was at the path is as it was, but where making the copy's name durable
    ///   fails.
    /// - Complexity: O(live data); two syncs.
    @discardableResult
    public func copy(
        to path: String, as storeID: (UInt64, UInt64)? = nil, options: StoreOptions = StoreOptions(), replacing: Bool = false,
        systemValues: [UInt64: [UInt8]] = [:], progress: ((CompactionProgress) -> Bool)? = nil
    ) throws(StoreError) -> UInt64 {
        let target = (try? options.resolvedFileSystem().resolved(path)) ?? path
        return try StoreCopy(
            source: self, path: target, options: options, storeID: storeID, systemValues: systemValues, replaces: replacing,
            progress: progress
        ).run()
    }
}
