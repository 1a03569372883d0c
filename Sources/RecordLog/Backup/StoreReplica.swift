/// Keeps a read-only copy of a store up to date from the log archives of a destination.
///
/// Only the follower writes to the file. Other handles, in any process, open it read-only and learn of new commits as they do of those of other
/// processes. Opening it for writing is refused; `LogStore.promote` makes a store of it.
public struct StoreReplica: Sendable {
    /// How far a replica is.
    public struct Status: Sendable {
        /// The newest commit of the replica.
        public var sequence: UInt64 = 0
        /// The bytes taken from archives.
        public var bytes: UInt64 = 0
        /// How often the file was made anew, because the store was compacted.
        public var replacements = 0
        /// The time since when the destination could not be reached, in microseconds since 1970; nil if the newest pass succeeded.
        public var behindSince: Int64?
        /// The reason.
        public var error: (any Error)?
    }

    private let destination: any BackupDestination
    private let path: String
    private let options: StoreOptions
    /// As those of `StoreRestore`, for the first pass; later ones keep to the file's.
    public var storeID: StoredUUID?
    public var lineage: StoredUUID?

    public init(from destination: any BackupDestination, at path: String, options: StoreOptions = StoreOptions()) {
        self.destination = destination
        self.path = path
        self.options = options
    }

    private var fileSystem: any FileSystem { options.resolvedFileSystem() }

    /// Takes up the commits that the destination has and the file lacks. Makes the file if there is none.
    /// - Throws: `exists` if the file is no replica; as `StoreRestore.run` does. The file is as it was, or has some of the new commits.
    @discardableResult
    public func update() async throws -> Status {
        var status = Status()
        try await update(&status)
        return status
    }

    /// Updates the file again and again, until the task is cancelled. A failure of the destination is tried again.
    /// - Parameter status: called after each pass.
    public func follow(every interval: Duration = .seconds(1), status: @escaping @Sendable (Status) -> Void = { _ in }) async throws {
        try await FollowStop.run { stop in
            var known = Status(), failures = 0
            while !stop.isStopped {
                do {
                    try await update(&known)
                    (known.error, known.behindSince, failures) = (nil, nil, 0)
                } catch {
                    known.error = error
                    known.behindSince = known.behindSince ?? fileSystem.now()
                    failures += 1
                    guard StoreBackup.isTemporary(error) || (error as? BackupError)?.code == .notCovered else { throw error }
                }
                status(known)
                await stop.sleep(for: FollowStop.wait(interval, afterFailures: failures))
            }
        }
    }

    // MARK: One pass

    private func update(_ status: inout Status) async throws {
        guard try fileSystem.identity(of: path) != nil else { return try await make(lineage, storeID, replaces: false, &status) }
        let file = try ReplicaFile(path: path, options: options)
        let line = try file.lineage(), catalog = try await BackupCatalog.list(destination, storeID: file.identity.storeID)
        let parts = catalog.parts(of: line)
        status.sequence = try file.superblock().sequence
        let steps = RestorePlan.continuation(behind: status.sequence, of: file.identity.fileID, parts)
        for step in steps {
            let archive = try await LogArchiveReader(step.archive, at: destination)
            let before = status.bytes
            status.sequence = try await file.take(archive, upTo: step.reach) { count in status.bytes = before + count }
        }
        guard let newest = parts.map(\.reach).max(), newest > status.sequence else { return }
        // The store was compacted: its new file has the commits that come next.
        try await make(line.id, file.identity.storeID, replaces: true, &status)
        status.replacements += 1
    }

    /// Restores the newest commit as a replica.
    private func make(_ lineage: StoredUUID?, _ storeID: StoredUUID?, replaces: Bool, _ status: inout Status) async throws {
        var restore = StoreRestore(from: destination, to: path, options: options)
        restore.lineage = lineage
        restore.storeID = storeID
        let made = try await RestoreRun(restore, fileSystem, nil).run(at: .newest)
        do {
            var superblock = try made.log.superblock()
            superblock.isReplica = true
            try FileCreation.write(superblock, to: made.file.storage, fileID: made.file.identity.fileID)
            try made.file.storage.sync()
            try made.file.put(at: made.target, replaces: replaces, options: options, superblock)
        } catch {
            made.file.storage.unlock()
            throw error
        }
        status.sequence = made.log.position.sequence
        status.bytes += made.bytes
    }
}
