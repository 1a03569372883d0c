/// One copy of a store, from the claim of its file until that file has the copy's path.
///
/// Writes the rows as of one commit, and their indexes, to a file beside the path, in table and row order. Commits made meanwhile are not in
/// it. No thread waits, except a writer of the store that is replaced while the file gets its name.
///
/// Crash points, in order: before the rename there is a file beside the path that the next copy or compaction there removes, and the file at
/// the path is unchanged. Between the rename and the sync of the directory either may be at the path, and both are whole. After that the copy
/// is at the path. Its superblock says that its name must be made durable first (9), until the settled superblock is written.
struct StoreCopy {
    let source: LogStore
    /// The copy's path, with links resolved.
    let path: String
    /// Options of the copy.
    let options: StoreOptions
    let storeID: StoredUUID?
    let systemValues: [UInt64: [UInt8]]
    /// Whether to replace a file at the path.
    let replaces: Bool
    let progress: ((CompactionProgress) -> Bool)?

    private var fileSystem: any FileSystem { options.resolvedFileSystem() }

    /// - Returns: the number of rows copied.
    func run() throws(StoreError) -> UInt64 {
        if let damage = source.damage { throw damage }
        try checkFree()
        let base = try newest()
        let file = try CompactionFile.claim(besides: path, like: model(), fileSystem)
        // Once the file has the path, this only releases its lock.
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

    /// The file whose permissions the copy gets: the file that it replaces, else the store's.
    private func model() throws(StoreError) -> any StorageFile {
        guard replaces, try fileSystem.identity(of: path) != nil else { return source.snapshot().file.storage }
        return try fileSystem.open(path, .readOnly)
    }

    /// The newest commit. If the path has another file, or none, the newest commit that the handle knows.
    private func newest() throws(StoreError) -> Snapshot {
        do throws(StoreError) {
            return try source.refresh()
        } catch {
            guard error.code == .superseded || error.code == .notAStore else { throw error }
            let known = source.snapshot()
            // If the handle's own file was overwritten, the state that the handle knows is lost.
            guard try source.fileSystem.identity(of: source.path) != known.file.storage.identity else { throw error }
            return known
        }
    }

    private func fill(_ target: CompactionTarget, _ base: Snapshot) throws(StoreError) -> UInt64 {
        // There is not even a catalog.
        guard base.sequence > 0 else { return 0 }
        var state = CompactionProgress(
            rowsDone: 0, rowsTotal: base.tables.reduce(0) { $0 + ($1?.rowCount ?? 0) }, commits: 0)
        func report() throws(StoreError) {
            guard let progress, !progress(state) else { return }
            throw StoreError(.cancelled, path: path, "the copy was cancelled", remedy: "The file at the path is as it was.")
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
        // A dangling link belongs to another program too.
        guard !replaces, try fileSystem.identity(ofName: path) != nil else { return }
        throw StoreError(
            .exists, path: path, "there is a file already, which a copy does not replace",
            remedy: "Choose another path, or remove the file.")
    }

    /// Renames the file to the path.
    private func put(_ file: CompactionFile) throws(StoreError) {
        // Checked again, since a file may have been created since the copy began.
        try checkFree()
        let old = replaces ? try fileSystem.lockReplaced(path, timeout: options.lockTimeout) : nil
        defer { old?.unlock() }
        // Opened before the rename: if no descriptor is left, nothing is changed.
        let isDurable = options.durability != .none
        let directory = isDurable ? try fileSystem.openDirectory(of: file.path) : nil
        if let old { try file.storage.copyAttributes(from: old) }
        try file.rename(to: path)
        try directory?.sync()
        old?.supersede(path, isNameDurable: isDurable)
    }
}

extension LogStore {
    /// Writes the rows and indexes of the newest commit to a new store. This store is unchanged, and others read and write it meanwhile.
    ///
    /// Use this to copy a store that is in use: a plain copy of its file may lack a commit in the middle of its log. It can also make a sound
    /// store of such a plain copy, opened read-only, and save the data of a handle whose file was removed or replaced.
    /// - Parameters:
    ///   - path: the path of the copy. A crash at any point leaves the previous file or the copy, whole.
    ///   - storeID: the copy's identity; nil for the same one, as a copy of the file would have.
    ///   - options: the copy's durability, file system and segment size.
    ///   - replacing: whether to replace a file at the path, under its lock. Its handles go over to a copy of the same identity that has as
    ///     many commits, and otherwise find `superseded`.
    ///   - systemValues: replacement values for rows of the system table.
    ///   - progress: called every few thousand rows; false cancels.
    /// - Returns: the number of rows copied.
    /// - Throws: `exists`; `corrupt` if a row is damaged; `locked` if another copy or a compaction to the path is in progress; `noSpace`,
    ///   `cancelled`, `isDirectory`, `notFound`. The file at the path is unchanged, unless the sync that makes the copy's name durable fails.
    /// - Complexity: O(live data); two syncs.
    @discardableResult
    public func copy(
        to path: String, as storeID: StoredUUID? = nil, options: StoreOptions = StoreOptions(), replacing: Bool = false,
        systemValues: [UInt64: [UInt8]] = [:], progress: ((CompactionProgress) -> Bool)? = nil
    ) throws(StoreError) -> UInt64 {
        let target = (try? options.resolvedFileSystem().resolved(path)) ?? path
        return try StoreCopy(
            source: self, path: target, options: options, storeID: storeID, systemValues: systemValues, replaces: replacing,
            progress: progress
        ).run()
    }
}
