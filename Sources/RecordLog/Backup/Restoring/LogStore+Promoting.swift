extension LogStore {
    /// Begins a lineage of its own for the store at a path, so that a backup keeps its commits apart from those of the store that it comes from.
    ///
    /// For a replica that is to be written to, for a copy that goes on beside its original, and for a store that was brought back to an older
    /// state by other means than a restore. It is one commit, with the author `heartwood promote`.
    /// - Throws: `corrupt`, `locked`, `notFound`, as opening for writing does.
    @discardableResult
    public static func promote(path: String, options: StoreOptions = StoreOptions()) throws(StoreError) -> Lineage {
        let fileSystem = options.resolvedFileSystem()
        var options = options
        options.isReadOnly = false
        options.createIfMissing = false
        let storage = try fileSystem.open(path, .readWrite)
        try storage.lock(timeout: options.lockTimeout)
        defer { storage.unlock() }
        guard try fileSystem.identity(of: path) == storage.identity else {
            throw StoreError(.locked, path: path, "the file was replaced at this moment", remedy: "Try again.")
        }
        var opening = Opening(path: path, options: options, fileSystem: fileSystem, counters: Counters())
        opening.promotes = true
        let opened = try opening.recover(storage, mayCreate: false)
        let id = StoredUUID(words: (fileSystem.random(), fileSystem.random()))
        let lineage = try LineageCommit.fork(of: opened.snapshot, id: id)
        _ = try LineageCommit(lineage: lineage, author: "heartwood promote", options: options)
            .append(to: opened, path: path, now: fileSystem.now())
        return lineage
    }
}
