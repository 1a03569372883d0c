/// Gives a store's path to another file that was made of what the store has, while nobody writes to it.
///
/// The new file gets the old one's permissions, owner and group first. Crash points: before the rename the store is what it was, and the new file lies under its own name; from the rename on, until the
/// directory is synced, either may be at the path, and both are whole.
struct StoreExchange {
    /// The store's own file, links followed.
    let path: String
    let options: StoreOptions

    func run(_ body: () throws -> String?) throws {
        let fileSystem = options.resolvedFileSystem()
        let old = try lock(fileSystem)
        defer { old.unlock() }
        // A compaction that is under way has its own file's lock; what one left behind goes.
        let claim = try CompactionFile.claim(besides: path, like: old, fileSystem)
        defer { claim.abandon() }
        guard !OpenStores.hasWriter(of: old.identity, in: fileSystem) else { throw inUse("it is open for writing in this process") }
        if let writers = old.otherWriters(), !writers.isEmpty {
            throw inUse("it is open for writing in \(writers.map(\.description).joined(separator: ", "))")
        }
        guard let made = try body() else { return }
        // Before the rename: without a descriptor left nothing is changed.
        let isDurable = options.durability != .none
        let directory = isDurable ? try fileSystem.openDirectory(of: made) : nil
        try fileSystem.liken(made, to: old)
        try fileSystem.rename(made, to: path)
        try directory?.sync()
        old.supersede(path, isNameDurable: isDurable)
    }

    /// The file at the path, under its lock.
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
    /// Tells the handles of a file whose path another has taken, which look at its header, to look at the path. Best effort: what writes
    /// looks anyway.
    /// - Parameter isNameDurable: whether the other file keeps the path after a loss of power. Where it may not, a file with durable commits is
    ///   not marked: it may be the store again, and one that is marked is refused.
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
    /// Runs `body` while nobody else writes to the store at `path`, and gives its path to the file that `body` made beside it.
    ///
    /// Handles that only read find that another store has taken their path, unless the new one has their store's identity.
    /// - Parameter body: may read the store. It gives the path of a whole file in the same directory, nil for none.
    /// - Throws: what `body` throws; `locked` where a handle of this process, or another process as far as the system tells, has the store
    ///   open for writing; `notFound`. The store is as it was then.
    package static func exchange(path: String, options: StoreOptions, _ body: () throws -> String?) throws {
        try StoreExchange(path: try options.resolvedFileSystem().resolved(path), options: options).run(body)
    }
}
