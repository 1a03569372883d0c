/// A store's file as a backup reads it: beside writers, checkpoints and compactions, and without a lock.
///
/// It reads only bytes before the end that a superblock has published: these never change (1). It stays open when a compaction gives the
/// store's path to another file, so that the last commits of the old file can still be read.
final class BackupSource: Sendable {
    let path: String
    let file: LogFile
    private let fileSystem: any FileSystem
    private let options: StoreOptions
    let counters = Counters()

    var identity: FileIdentity { file.identity }
    var storage: any StorageFile { file.storage }

    /// - Throws: `notFound`, `notAStore`, `unsupportedVersion`, `corrupt`.
    init(path: String, options: StoreOptions) throws(StoreError) {
        self.path = path
        self.options = options
        fileSystem = options.resolvedFileSystem()
        let storage = try fileSystem.open(path, .readOnly)
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        let count = try HeaderReader.read(storage, into: &header)
        let identity = try HeaderReader(path: path).identity(header, count: count, size: try storage.size())
        file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: counters)
    }

    /// The newest superblock. Where a loss of power has taken both, one that names the last whole commit of the log, which an opening takes up.
    func superblock() throws(StoreError) -> Superblock {
        // A writer may change one superblock and then the other while they are read.
        for _ in 0..<10 {
            if let found = HeaderReader.newestSuperblock(try HeaderReader.header(of: storage), fileID: identity.fileID) { return found }
        }
        let found = try followed(Superblock(), through: .max)
        guard found.sequence > 0 else { throw StoreError.corrupt(path, at: 0, "both superblocks are damaged") }
        return found
    }

    /// A superblock, moved behind the whole commits that follow it.
    private func followed(_ superblock: Superblock, through sequence: UInt64) throws(StoreError) -> Superblock {
        var found = superblock
        let published = LogPosition(sequence: found.sequence, checksum: found.commitChecksum, end: found.end)
        var scan = CommitScan(file, after: published, limit: try storage.size(), publishedEnd: found.end, wholeEnd: found.durableEnd)
        while found.sequence < sequence, let footer = try scan.next() {
            (found.sequence, found.commitChecksum, found.end) = (footer.sequence, scan.commitChecksum, scan.end)
        }
        return found
    }

    /// The newest superblock, at least as new as a commit that is known to have been in the file, if that is there.
    ///
    /// While a writer changes one superblock, only the other can be read, so it is read again. A loss of power may have taken the newest superblock
    /// and left the commits that it published. No writer has opened the file since; the next one, and each reader, takes them up.
    func superblock(atLeast sequence: UInt64) throws(StoreError) -> Superblock {
        var found = try superblock()
        for _ in 0..<10 where found.sequence < sequence { found = try superblock() }
        return found.sequence < sequence ? try followed(found, through: sequence) : found
    }

    /// The newest superblock, after all that it publishes is on the disk: a backup must not have commits that the store can still lose.
    func durableSuperblock() throws(StoreError) -> Superblock {
        var found = try superblock()
        // A file whose name a loss of power can take away would leave the one that a compaction has replaced.
        if found.isUnsettled, fileSystem.outlivesProcess { try fileSystem.syncDirectory(of: path) }
        guard found.durableEnd < found.end || found.durableSequence < found.sequence else { return found }
        try storage.sync()
        found.durableEnd = found.end
        found.durableSequence = found.sequence
        return found
    }

    /// Whether another file has taken the store's path.
    func isReplaced() throws(StoreError) -> Bool { try fileSystem.identity(of: path) != storage.identity }

    /// The store's lineage, and the number of the commit as of which it holds.
    ///
    /// Memory: the directories of the newest checkpoint, and one frame. The rows behind it are read and not kept.
    func lineage() throws(StoreError) -> (lineage: Lineage, sequence: UInt64) {
        let published = try superblock()
        guard var (lineage, position) = try checkpointed(published) else { return try replayed() }
        var scan = scan(from: position, published)
        while try scan.next() != nil, let frame = scan.commitFrame {
            lineage = Lineage(begunBy: frame) ?? lineage
            position = scan.lastCommit
        }
        return (lineage, position.sequence)
    }

    /// The lineage as of the newest checkpoint, and its commit; nil if there is no checkpoint that can be read.
    private func checkpointed(_ published: Superblock) throws(StoreError) -> (lineage: Lineage, position: LogPosition)? {
        let end = min(published.end, try storage.size())
        guard !published.checkpoint.isNone, published.checkpoint.offset < end else { return nil }
        let file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: counters)
        file.extendReadable(to: end)
        guard let loaded = try? CheckpointReader(file: file, counters: counters).load(published.checkpoint, size: end),
            let lineage = try? Lineage(of: loaded.snapshot)
        else { return nil }
        let snapshot = loaded.snapshot
        return (lineage, LogPosition(sequence: snapshot.sequence, checksum: snapshot.commitChecksum, end: loaded.end))
    }

    /// The lineage of a file without a checkpoint. The first commit of a compacted file may have its row in any frame, so all are applied.
    private func replayed() throws(StoreError) -> (lineage: Lineage, sequence: UInt64) {
        var reading = options
        reading.isReadOnly = true
        reading.acceptsDamage = true
        reading.usesMemoryMapping = false
        let opening = Opening(path: path, options: reading, fileSystem: fileSystem, counters: counters, asksOthers: false)
        let snapshot = try opening.recover(storage).snapshot
        return (try Lineage(of: snapshot), snapshot.sequence)
    }

    /// The checksum of the commit frame at an offset; nil if there is none that is whole.
    func commitChecksum(at offset: UInt64, _ published: Superblock) throws(StoreError) -> UInt64? {
        let reader = TailReader(file)
        guard let frame = try reader.frame(at: offset, limit: published.end), frame.header.kind == .commit else { return nil }
        return frame.header.checksum
    }

    func scan(from position: LogPosition, _ published: Superblock, damage: CommitScan.DamagePolicy = .passes) -> CommitScan {
        CommitScan(file, after: position, limit: published.end, publishedEnd: published.end, wholeEnd: published.end, damage: damage)
    }

    /// The complete checkpoints of the file, in the order of their offsets. Each names the one before it.
    func checkpoints(_ published: Superblock) throws(StoreError) -> [FramePointer] {
        var found: [FramePointer] = [], chain = CheckpointChain(file, from: published.checkpoint, limit: published.end)
        while let checkpoint = try chain.next() { found.append(checkpoint.pointer) }
        return found.reversed()
    }
}

extension Lineage {
    /// The lineage of a store as of a commit.
    package init(of snapshot: Snapshot) throws(StoreError) {
        guard let bytes = try snapshot.unsafeSystemValue(Self.row) else {
            self.init(of: snapshot.file.identity.storeID)
            return
        }
        guard let found = Lineage(bytes) else { throw StoreError.corrupt(snapshot.file.path, at: nil, "the store's lineage is malformed") }
        self = found
    }

    /// The lineage that a commit frame begins; nil if it begins none. A restore and a promotion commit one row, in one frame.
    init?(begunBy frame: LogFile.Frame) {
        var found: Lineage?
        _ = frame.forEachRow { record, body, _ in
            guard record.reference == RowReference(table: .system, row: Self.row), record.operation == .put else { return }
            found = Lineage(UnsafeRawBufferPointer(start: body, count: record.bodyLength))
        }
        guard let found else { return nil }
        self = found
    }
}
