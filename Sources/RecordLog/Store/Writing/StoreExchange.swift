/// Gives a store's path to another file that was made from the store's content, while no other writer has the store open.
///
/// The new file first gets the old one's permissions, owner and group. Crash points: before the rename the store is unchanged, and the new
/// file has its own name. From the rename on, until the directory is synced, either file may be at the path, and both are whole.
struct StoreExchange {
    /// The store's own file, with links resolved.
    let path: String
    let options: StoreOptions

    func run(_ body: () throws -> String?) throws {
        let fileSystem = options.resolvedFileSystem()
        let old = try lock(fileSystem)
        defer { old.unlock() }
        // A compaction in progress holds its file's lock. A left-over file of an earlier one is removed.
        let claim = try CompactionFile.claim(besides: path, like: old, fileSystem)
        defer { claim.abandon() }
        guard !OpenStores.hasWriter(of: old.identity, in: fileSystem) else { throw inUse("it is open for writing in this process") }
        if let writers = old.otherWriters(), !writers.isEmpty {
            throw inUse("it is open for writing in \(writers.map(\.description).joined(separator: ", "))")
        }
        guard let made = try body() else { return }
        // Opened before the rename: if no descriptor is left, nothing is changed.
        let isDurable = options.durability != .none
        let directory = isDurable ? try fileSystem.openDirectory(of: made) : nil
        try fileSystem.copyAttributes(to: made, from: old)
        try fileSystem.rename(made, to: path)
        try directory?.sync()
        old.supersede(path, isNameDurable: isDurable)
    }

    /// Opens and locks the file at the path.
    private func lock(_ fileSystem: any FileSystem) throws(StoreError) -> any StorageFile {
        for _ in 0..<100 {
            let file = try fileSystem.open(path, .readWrite)
            try file.lock(timeout: options.lockTimeout)
            if try fileSystem.identity(of: path) == file.identity { return file }
            file.unlock()
        }
        throw StoreError(.locked, path: path, "the file is replaced again and again", remedy: "Stop the other process.")
    }

    private func inUse(_ what: String) -> StoreError {
        StoreError(.locked, path: path, "the store cannot be replaced: \(what)", remedy: "Close it there first; it is as it was.")
    }
}

extension StorageFile {
    /// Marks a file whose path another has taken, so that its handles look at the path. They see the mark in the header. Best effort: writers
    /// look at the path anyway.
    /// - Parameter isNameDurable: whether the other file keeps the path after a loss of power. If it may not, a file with durable commits is
    ///   not marked: it may become the store again, and a marked file is refused.
    func supersede(_ path: String, isNameDurable: Bool) {
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        guard let count = try? HeaderReader.read(self, into: &header), count == header.count,
            let identity = try? HeaderReader(path: path).identity(header, count: count, size: UInt64(count)),
            var superblock = HeaderReader.newestSuperblock(header, fileID: identity.fileID)
        else { return }
        guard isNameDurable || superblock.durableSequence == 0 else { return }
        superblock.isSuperseded = true
        superblock.generation += 1
        try? FileCreation.write(superblock, to: self, fileID: identity.fileID)
    }
}

extension LogStore {
    /// Runs `body` while no other writer has the store at `path` open, then gives the path to the file that `body` made beside it.
    ///
    /// Handles that only read find that another store has taken their path, unless the new one has the same store identity.
    /// - Parameter body: may read the store. Returns the path of a whole file in the same directory, or nil for none.
    /// - Throws: the error of `body`; `locked` if a handle of this process, or another process as far as the system reports it, has the store
    ///   open for writing; `notFound`. The store is unchanged then.
    package static func exchange(path: String, options: StoreOptions, _ body: () throws -> String?) throws {
        try StoreExchange(path: try options.resolvedFileSystem().resolved(path), options: options).run(body)
    }
}
