/// Restores a store from the log archives of a destination, as of any commit that they have.
public struct StoreRestore: Sendable {
    /// The state that is restored.
    public enum Point: Sendable, Hashable {
        case newest
        /// The state after the commit of this number.
        case commit(UInt64)
        /// The state after the last commit at or before a time, in microseconds since 1970-01-01 UTC.
        case time(Int64)
    }

    /// How far a restore is.
    public struct Progress: Sendable {
        public var bytesDone: UInt64
        /// About how many bytes the archives have in all.
        public var bytesTotal: UInt64
    }

    public struct Report: Sendable {
        public var storeID: StoredUUID
        /// The lineage from which the store was restored, and the one that it begins; both are the same for a replica.
        public var source: StoredUUID
        public var lineage: StoredUUID
        /// The commit that was asked for, as of which the store was restored.
        public var sequence: UInt64
        /// The bytes that were taken from archives.
        public var bytes: UInt64
        /// The archives that were left out because they are damaged; others had all commits that were asked for.
        public var skipped: [BackupError]
        /// The ranges of the store's file in which the archives have damaged frames of indexes. No commit lies there; the restored store has
        /// made its indexes without them.
        public var damagedIndexes: [Range<UInt64>]
    }

    let destination: any BackupDestination
    let path: String
    let options: StoreOptions
    /// The store to restore; nil if the destination has archives of one store only.
    public var storeID: StoredUUID?
    /// The lineage to restore; nil for the one with the newest commit.
    public var lineage: StoredUUID?

    /// - Parameters:
    ///   - path: the path of the restored store.
    ///   - options: the file system, the lock timeout, and the extractors of the store's indexes.
    public init(from destination: any BackupDestination, to path: String, options: StoreOptions = StoreOptions()) {
        self.destination = destination
        self.path = path
        self.options = options
    }

    /// Restores the store. It keeps its identity, so that references to its rows hold, and begins a lineage of its own. A backup of it may go
    /// to the same destination.
    ///
    /// Every byte is verified: the checksums of the archives, of the frames, and the chain of commits. A crash or an error leaves what was at
    /// the path; the next call goes on with what was fetched. The task's cancellation ends it in the same way.
    /// It never brings back an older state than the one that was asked for. Where that cannot be had, the error has the number of the newest
    /// commit before it that can (`BackupError.available`): restore that one by its number.
    /// - Parameter replacing: whether to replace a file at the path.
    /// - Throws: `exists`; `notCovered` if no archive has the commit, also where a backup has acknowledged a newer commit than the archives have;
    ///   `damaged` if no other archive has the commits of a damaged one; `busy`; `StoreError`.
    /// - Complexity: O(bytes of the log until the commit); memory for a few blocks.
    @discardableResult
    public func run(
        at point: Point = .newest, replacing: Bool = false, progress: (@Sendable (Progress) -> Void)? = nil
    ) async throws -> Report {
        let fileSystem = options.resolvedFileSystem()
        if !replacing, try fileSystem.identity(ofName: path) != nil { throw RestoreFile.exists(path) }
        let made = try await RestoreRun(self, fileSystem, progress).run(at: point)
        let lineage: Lineage
        do {
            let superblock: Superblock
            (superblock, lineage) = try beginLineage(made, fileSystem)
            try made.file.put(at: made.target, over: replacing ? .anything : .nothing, options: options, superblock)
        } catch let error as StoreError where error.code == .corrupt {
            // With the same bytes the next restore would fail in the same way.
            made.file.abandon()
            throw error
        } catch {
            made.file.storage.unlock()
            throw error
        }
        return Report(
            storeID: made.file.identity.storeID, source: made.lineage, lineage: lineage.id, sequence: made.log.position.sequence,
            bytes: made.bytes, skipped: made.skipped, damagedIndexes: made.log.damage)
    }

    /// Makes the file a store and appends the commit with the new lineage. No other process knows the file yet.
    private func beginLineage(_ made: RestoreRun.Made, _ fileSystem: any FileSystem) throws(StoreError) -> (Superblock, Lineage) {
        try FileCreation.write(try made.log.superblock(), to: made.file.storage, fileID: made.file.identity.fileID)
        var opening = options
        opening.durability = .none
        opening.isReadOnly = false
        opening.createIfMissing = false
        let opened: OpenedFile
        do throws(StoreError) {
            opened = try recover(made.file, opening, fileSystem)
        } catch {
            // An index that needs an extractor is left out here; the first opening with the extractor makes it anew.
            guard error.code == .schema else { throw error }
            opening.isReadOnly = true
            opened = try recover(made.file, opening, fileSystem)
        }
        let id = StoredUUID(words: (fileSystem.random(), fileSystem.random()))
        let lineage = try LineageCommit.fork(of: opened.snapshot, id: id)
        let commit = LineageCommit(lineage: lineage, author: "heartwood restore", options: opening)
        return (try commit.append(to: opened, path: made.file.path, now: fileSystem.now()), lineage)
    }

    private func recover(_ file: RestoreFile, _ options: StoreOptions, _ fileSystem: any FileSystem) throws(StoreError) -> OpenedFile {
        try Opening(path: file.path, options: options, fileSystem: fileSystem, counters: Counters(), asksOthers: false).recover(file.storage)
    }

    // MARK: Choice

    /// The store that is restored.
    func chosenStore() async throws -> StoredUUID {
        if let storeID { return storeID }
        let stores = try await BackupCatalog.list(destination).catalogs.map(\.storeID)
        guard let first = stores.first else {
            throw BackupError(
                .notCovered, "\(destination)", "there are no log archives", remedy: "Check the destination; `heartwood backup` makes archives.")
        }
        guard stores.count == 1 else {
            throw BackupError(
                .invalidArgument, "\(destination)", "there are archives of \(stores.count) stores: "
                    + stores.map(\.description).joined(separator: ", "),
                remedy: "Name the store to restore (`--store ID`); `heartwood backup list` shows what each has.")
        }
        return first
    }

    /// The lineage that is restored.
    func chosenLineage(_ catalog: BackupCatalog) throws -> Lineage {
        if let lineage {
            if let line = catalog.lines[lineage] { return Lineage(line) }
            // A parent of whose own commits no archive is left.
            if let child = catalog.lines.values.first(where: { $0.parent == lineage }), child.parent != nil {
                return Lineage(id: lineage, fork: nil)
            }
            throw BackupError(
                .notCovered, "\(destination)", "there is no lineage \(lineage)", remedy: "`heartwood backup list` shows the lineages.")
        }
        let newest = catalog.lines.values.max { a, b in
            (a.newestTime, a.archives.count, a.id) < (b.newestTime, b.archives.count, b.id)
        }
        guard let newest else {
            throw BackupError(
                .notCovered, "\(destination)", "there are no log archives of store \(catalog.storeID)",
                remedy: "Check the destination; `heartwood backup list` shows the stores.")
        }
        return Lineage(newest)
    }
}

extension BackupCatalog.Line {
    /// The time of the line's newest commit.
    fileprivate var newestTime: Int64 { (archives.map(\.name.greatestTime) + heads.map(\.greatestTime)).max() ?? .min }
}

extension Lineage {
    /// The lineage of a line of commits at a destination.
    package init(_ line: BackupArchives.Line) {
        let fork = line.parent.map { Fork(parent: $0, sequence: line.fork ?? 0, checksum: 0, fileID: 0) }
        self.init(id: line.lineage, fork: fork)
    }

    /// The lineage of archives, as far as their names tell.
    init(_ line: BackupCatalog.Line) {
        let fork = line.parent.map { Fork(parent: $0, sequence: line.fork, checksum: 0, fileID: 0) }
        self.init(id: line.id, fork: fork)
    }
}
