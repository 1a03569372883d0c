/// The file of a replica, as its follower writes to it.
///
/// A pass writes the frames behind the published end, syncs, and then publishes them by a superblock. A crash before that leaves whole commits
/// behind the published end, which readers may have seen: the next pass keeps them.
struct ReplicaFile {
    /// The replica ends with a checkpoint that the store does not have: a loss of power took it after a base archive was made of it, and the
    /// store's next commit lies at its place. The replica has published these bytes, which never change (1), so it must be made anew.
    struct EndsWithLostCheckpoint: Error {}

    let path: String
    let identity: FileIdentity
    private let storage: any StorageFile
    private let options: StoreOptions
    private let fileSystem: any FileSystem

    /// - Throws: `BackupError.Code.exists` if the file is no replica.
    init(path: String, options: StoreOptions) throws {
        self.path = path
        self.options = options
        fileSystem = options.resolvedFileSystem()
        storage = try fileSystem.open(path, .readWrite)
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        let count = try HeaderReader.read(storage, into: &header)
        identity = try HeaderReader(path: path).identity(header, count: count, size: try storage.size())
        guard HeaderReader.newestSuperblock(header, fileID: identity.fileID)?.isReplica == true else {
            throw BackupError(
                .exists, path, "there is a file already, which is no replica",
                remedy: "Choose another path. A store that was promoted is one of its own, and follows no other.")
        }
    }

    func superblock() throws(StoreError) -> Superblock {
        guard let found = HeaderReader.newestSuperblock(try HeaderReader.header(of: storage), fileID: identity.fileID) else {
            throw StoreError.corrupt(path, at: 0, "both superblocks are damaged")
        }
        return found
    }

    func lineage() throws -> Lineage { try BackupSource(path: path, options: options).lineage().lineage }

    /// Takes the commits of an archive up to a number, and publishes them.
    /// - Returns: the newest commit of the file.
    /// - Throws: `EndsWithLostCheckpoint`; the file is as it was.
    func take(_ archive: LogArchiveReader, upTo reach: UInt64, progress: (UInt64) -> Void) async throws -> UInt64 {
        try storage.lock(timeout: options.lockTimeout)
        defer { storage.unlock() }
        guard try fileSystem.identity(of: path) == storage.identity else {
            throw BackupError(.busy, path, "another file has taken the replica's path", remedy: "Stop the other follower.")
        }
        var published = try superblock()
        guard published.isReplica else { throw BackupError(.exists, path, "the replica was promoted", remedy: "Stop following it.") }
        let position = try position(published)
        if lacksCheckpoint(archive, published, at: position) { throw EndsWithLostCheckpoint() }
        let log = try RestoredLog(storage, identity, path: path, at: position)
        if log.position.sequence < reach {
            var done: UInt64 = 0
            try await log.take(archive, upTo: reach) { count in
                done += count
                progress(done)
            }
        }
        guard log.position.sequence > published.sequence else { return published.sequence }
        try storage.sync()
        published.generation += 1
        published.sequence = log.position.sequence
        published.end = log.position.end
        published.commitChecksum = log.position.checksum
        published.durableSequence = published.sequence
        published.durableEnd = published.end
        published.isUnsettled = false
        try FileCreation.write(published, to: storage, fileID: identity.fileID)
        return published.sequence
    }

    /// Whether an archive has the next commit where the file has a checkpoint.
    private func lacksCheckpoint(_ archive: LogArchiveReader, _ published: Superblock, at position: LogPosition) -> Bool {
        let header = archive.header
        guard header.isBase else { return archive.start(behind: position.sequence).map { $0 < position.end } ?? false }
        guard header.last > position.sequence, let end = archive.end(of: position.sequence), end < position.end else { return false }
        return !archive.table.checkpoints.contains { $0.offset == published.checkpoint.offset && $0.checksum == published.checkpoint.checksum }
    }

    /// The last whole commit of the file.
    private func position(_ published: Superblock) throws(StoreError) -> LogPosition {
        let file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: Counters())
        let known = LogPosition(sequence: published.sequence, checksum: published.commitChecksum, end: published.end)
        var scan = CommitScan(file, after: known, limit: try storage.size(), publishedEnd: published.end, wholeEnd: published.end)
        while try scan.next() != nil {}
        return scan.lastCommit
    }
}
