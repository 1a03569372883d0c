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
        /// How often the file was made anew, because the store was compacted or lost a checkpoint that the file has.
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
        var status = Status(), line: Line?
        try await update(&status, &line)
        return status
    }

    /// Updates the file again and again, until the task is cancelled. A failure of the destination is tried again.
    ///
    /// The cancellation also ends a pass: the file has whole commits then, and the next call goes on with what was fetched.
    /// - Parameter status: called after each pass.
    public func follow(every interval: Duration = .seconds(1), status: @escaping @Sendable (Status) -> Void = { _ in }) async throws {
        var known = Status(), line: Line?, failures = 0
        while !Task.isCancelled {
            let start = fileSystem.now()
            do {
                try await update(&known, &line)
                (known.error, known.behindSince, failures) = (nil, nil, 0)
            } catch {
                guard !Task.isCancelled else { return }
                known.error = error
                known.behindSince = known.behindSince ?? start
                failures += 1
                guard Self.isTemporary(error) else { throw error }
            }
            status(known)
            try? await Task.sleep(for: FollowStop.wait(interval, afterFailures: failures))
        }
    }

    /// Whether a later attempt may succeed. A file that is no replica, or none any more, does not become one.
    private static func isTemporary(_ error: any Error) -> Bool {
        switch (error as? BackupError)?.code {
        case .exists: false
        case .notCovered: true
        default: StoreBackup.isTemporary(error)
        }
    }

    // MARK: One pass

    /// The line of the replica's file. It stays the same as long as the file does: a commit that begins a lineage is in archives of that lineage.
    private struct Line {
        let fileID: UInt64
        let lineage: Lineage
    }

    private func update(_ status: inout Status, _ known: inout Line?) async throws {
        guard try fileSystem.identity(of: path) != nil else { return try await make(lineage, storeID, over: .nothing, &status) }
        let file = try ReplicaFile(path: path, options: options), fileID = file.identity.fileID
        status.sequence = try file.superblock().sequence
        // Finding it reads the log behind the newest checkpoint, which is not done in each pass.
        let line = known?.fileID == fileID ? known?.lineage : nil, lineage = try line ?? file.lineage()
        known = Line(fileID: fileID, lineage: lineage)
        let catalog = try await BackupCatalog.list(destination, storeID: file.identity.storeID)
        var parts = catalog.parts(of: lineage)
        guard !parts.isEmpty, let newest = catalog.newest(of: lineage) else { throw gone() }
        var problem: BackupError?, mustBeginAnew = false
        do {
            problem = try await takeIncrements(to: file, &parts, &status)
        } catch is ReplicaFile.EndsWithLostCheckpoint {
            mustBeginAnew = true
        }
        guard newest > status.sequence else { return }
        // Otherwise the store was compacted: its new file has the commits that come next.
        guard mustBeginAnew || RestorePlan(for: newest, of: parts.filter { $0.name.fileID != fileID }) != nil else {
            throw problem ?? lacking(status.sequence + 1)
        }
        try await make(lineage.id, file.identity.storeID, over: .replica, &status)
        status.replacements += 1
    }

    /// Takes the archives of the replica's own file that go on behind its commits.
    /// - Parameter parts: loses the archives that cannot be used. Another one may have their commits.
    /// - Returns: the last reason why an archive cannot be used.
    private func takeIncrements(to file: ReplicaFile, _ parts: inout [LinePart], _ status: inout Status) async throws -> BackupError? {
        var problem: BackupError?
        var steps = RestorePlan.continuation(behind: status.sequence, of: file.identity.fileID, parts)[...]
        while let step = steps.popFirst() {
            do {
                let archive = try await LogArchiveReader(step.archive, at: destination), before = status.bytes
                status.sequence = try await file.take(archive, upTo: step.reach) { count in status.bytes = before + count }
            } catch let error as BackupError where error.isOfArchive {
                problem = error
                parts.removeAll { $0.archive == step.archive }
                steps = RestorePlan.continuation(behind: status.sequence, of: file.identity.fileID, parts)[...]
            }
        }
        return problem
    }

    private func gone() -> BackupError {
        BackupError(
            .notCovered, "\(destination)", "there are no log archives of the replica's line of commits",
            remedy: "Mount the destination again, or check its path.")
    }

    private func lacking(_ sequence: UInt64) -> BackupError {
        BackupError(
            .notCovered, "\(destination)", "commit \(sequence), which comes next, is in no archive, though later ones are",
            remedy: "`heartwood backup list` shows the gap. The replica goes on once the commit is there, or a full copy of a newer file.")
    }

    /// Restores the newest commit as a replica. Where that cannot be had, an older one that the replica does not have yet is taken before the
    /// error is thrown.
    private func make(_ lineage: StoredUUID?, _ storeID: StoredUUID?, over replaced: RestoreFile.Replaced, _ status: inout Status) async throws {
        var restore = StoreRestore(from: destination, to: path, options: options)
        restore.lineage = lineage
        restore.storeID = storeID
        do {
            try await make(restore, .newest, over: replaced, &status)
        } catch let error as BackupError {
            guard let available = error.available, available > status.sequence else { throw error }
            try await make(restore, .commit(available), over: replaced, &status)
            throw error
        }
    }

    private func make(
        _ restore: StoreRestore, _ point: StoreRestore.Point, over replaced: RestoreFile.Replaced, _ status: inout Status
    ) async throws {
        let made = try await RestoreRun(restore, fileSystem, nil).run(at: point)
        do {
            var superblock = try made.log.superblock()
            superblock.isReplica = true
            try FileCreation.write(superblock, to: made.file.storage, fileID: made.file.identity.fileID)
            try made.file.storage.sync()
            try made.file.put(at: made.target, over: replaced, options: options, superblock)
        } catch let error as BackupError where error.code == .exists {
            // Nothing is to be replaced any more.
            made.file.abandon()
            throw error
        } catch {
            made.file.storage.unlock()
            throw error
        }
        status.sequence = made.log.position.sequence
        status.bytes += made.bytes
    }
}
