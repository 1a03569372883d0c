/// Removes a store's file, unless other handles work on it.
///
/// Crash points: before the file is unlinked the store is whole. After it the name, with the whole store, may come back until the directory
/// is synced. The empty file that replaces it may not exist yet.
struct StoreRemoval {
    let path: String
    let options: StoreOptions
    /// Whether to remove the file even if other handles work on it.
    var isForced = false
    /// Whether an empty file with the same permissions replaces it. It opens as a new store.
    var leavesEmptyFile = false

    /// - Parameter own: a handle to ignore, since its owner closes it before the removal.
    func check(by own: LogStore) throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        guard try fileSystem.identity(of: path) != nil else { return }
        let storage = try fileSystem.open(try fileSystem.resolved(path), .readWrite)
        try checkIsStore(storage)
        try checkWriters(storage, fileSystem, besides: own)
    }

    private func checkWriters(
        _ storage: any StorageFile, _ fileSystem: any FileSystem, besides own: LogStore? = nil
    ) throws(StoreError) {
        guard !OpenStores.hasWriter(of: storage.identity, in: fileSystem, besides: own) else {
            throw inUse("it is open for writing in this process")
        }
        if let writers = storage.otherWriters(), !writers.isEmpty {
            throw inUse("it is open for writing in \(writers.map(\.description).joined(separator: ", "))")
        }
    }

    func run() throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        guard try fileSystem.identity(of: path) != nil else { return }
        let target = try fileSystem.resolved(path)
        let storage = try fileSystem.open(target, .readWrite)
        try checkIsStore(storage)
        // A compaction in progress holds this file's lock. A left-over file of an earlier one is removed too.
        let leftover = isForced
            ? (try? claim(besides: target, like: storage, fileSystem)) ?? nil : try claim(besides: target, like: storage, fileSystem)
        defer { leftover?.abandon() }
        if !isForced { try storage.lock(timeout: options.lockTimeout) }
        defer { if !isForced { storage.unlock() } }
        guard try fileSystem.identity(of: target) == storage.identity else {
            throw inUse("another file has just taken its path")
        }
        if !isForced { try checkWriters(storage, fileSystem) }
        // A crash may have left a scratch file.
        try? ScratchFile.removeLeftover(target + ScratchFile.suffix, fileSystem)
        let directory = options.durability != .none ? try fileSystem.openDirectory(of: target) : nil
        try fileSystem.remove(target)
        if leavesEmptyFile {
            // The store is gone; another process may be making the next one.
            _ = try? fileSystem.create(target, like: storage)
        } else if target != path {
            try fileSystem.remove(path)
        }
        try directory?.sync()
    }

    /// - Returns: nil if the compaction's file name belongs to another file, so that no compaction runs.
    private func claim(
        besides target: String, like storage: any StorageFile, _ fileSystem: any FileSystem
    ) throws(StoreError) -> CompactionFile? {
        do throws(StoreError) {
            return try CompactionFile.claim(besides: target, like: storage, fileSystem)
        } catch {
            guard error.code == .exists else { throw error }
            return nil
        }
    }

    private func inUse(_ what: String) -> StoreError {
        StoreError(.locked, path: path, "the store was not removed: \(what)", remedy: "Close it there first; it is as it was.")
    }

    /// Refuses to remove a file that is no store.
    private func checkIsStore(_ storage: any StorageFile) throws(StoreError) {
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        let count = try HeaderReader.read(storage, into: &header)
        guard !HeaderReader.isUnfinished(header) else { return }
        _ = try HeaderReader(path: path).identity(header, count: count, size: try storage.size())
    }
}

extension LogStore {
    /// Removes the store at `path`, and the files that a compaction or a crash left beside it. Does nothing if there is no file.
    /// - Throws: `locked` if a handle of this process, or another process as far as the system reports it, has it open for writing or is
    ///   writing; `notAStore` for any other file; `isDirectory`, `permissionDenied`. Nothing is removed then.
    /// - Parameters:
    ///   - isForced: whether to remove it even if other handles have it open or write to it. They can commit no more. If another process is
    ///     about to end a compaction, that may bring the store back.
    ///   - leavesEmptyFile: whether an empty file with the store's permissions replaces it, at the target of any links. It opens as a new
    ///     store.
    public static func remove(
        path: String, options: StoreOptions = StoreOptions(), isForced: Bool = false, leavesEmptyFile: Bool = false
    ) throws(StoreError) {
        try StoreRemoval(path: path, options: options, isForced: isForced, leavesEmptyFile: leavesEmptyFile).run()
    }

    /// Throws the errors that `remove(path:options:)` would throw once `own` is closed, as far as they can be known before.
    package static func checkRemoval(path: String, options: StoreOptions = StoreOptions(), by own: LogStore) throws(StoreError) {
        try StoreRemoval(path: path, options: options).check(by: own)
    }
}
