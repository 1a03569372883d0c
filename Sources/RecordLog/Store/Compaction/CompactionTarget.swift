/// The new file of a compaction, from its header to the superblock that makes it a store.
///
/// No process reads it before it has the store's name, and by then it is synced. One sync covers everything, and a named frame is always in
/// the file.
final class CompactionTarget {
    let file: LogFile
    let appender: FrameAppender
    private let creation: FileCreation
    private let first: Superblock
    /// As of the newest commit that was copied and learned.
    private(set) var snapshot: Snapshot
    private var checkpoint = FramePointer.none
    /// Bytes of commits that the newest checkpoint does not have.
    private var bytesBehind: UInt64 = 0

    /// - Parameter storeID: nil for the old file's.
    init(
        _ storage: any StorageFile, besides old: LogFile, storeID: StoredUUID? = nil, _ creation: FileCreation
    ) throws(StoreError) {
        (file, first) = try creation.begin(storage, storeID: storeID ?? old.identity.storeID, segmentShift: old.identity.segmentShift)
        appender = FrameAppender(
            file: file, at: FileFormat.dataStart, sequence: 0, counters: creation.counters, isSyncedSoon: creation.options.durability != .none,
            flushSize: creation.options.pieceSize)
        snapshot = Snapshot.empty(file, creation.counters)
        self.creation = creation
    }

    /// Takes up the file's first commit, which has the rows as of a commit of the old file.
    func begin(_ made: Snapshot) { snapshot = made }

    /// Takes up the commits that were appended behind the snapshot. Replays them like another process's commits, so that a single piece of
    /// code updates the indexes.
    /// - Parameter hasIndexes: false if the indexes are written later; then none is built here.
    func learn(hasIndexes: Bool) throws(StoreError) {
        try appender.flush()
        guard appender.position > snapshot.end else { return }
        let replay = Replay(file: file, from: snapshot, at: snapshot.end, options: creation.options)
        try replay.run(limit: appender.position, publishedEnd: appender.position, wholeEnd: appender.position)
        guard replay.end == appender.position else {
            throw StoreError.corrupt(creation.path, at: nil, "the commits that a compaction copied do not follow each other")
        }
        bytesBehind += replay.commitBytes
        snapshot = hasIndexes ? try replay.finish(counters: creation.counters) : replay.snapshotAsIs(counters: creation.counters)
    }

    /// Sets the file's indexes as of the snapshot's commit.
    func setIndexes(_ indexes: [RunSet?]) {
        snapshot = Snapshot(
            sequence: snapshot.sequence, catalog: snapshot.catalog, file: file, end: snapshot.end,
            commitChecksum: snapshot.commitChecksum, tables: snapshot.tables, indexes: indexes, counters: creation.counters)
    }

    /// Writes a checkpoint, so that an opening has little to replay.
    func writeCheckpoint() throws(StoreError) {
        let made = try CheckpointBuilder(base: snapshot, sink: appender, options: creation.options).build(previous: checkpoint)
        checkpoint = made.manifest
        bytesBehind = 0
        snapshot = made.over(snapshot, isWhole: true)
    }

    func writeCheckpointIfDue() throws(StoreError) {
        if bytesBehind > creation.options.checkpointAfterBytes / 2 { try writeCheckpoint() }
    }

    /// Writes and syncs the frames gathered so far, so that the last sync, for which writers wait, has little to do.
    func flush(isDurable: Bool) throws(StoreError) {
        try appender.flush()
        guard isDurable else { return }
        try file.storage.sync()
        creation.counters.synced()
    }

    /// Makes the file a store, whose name is not durable yet.
    func finish(isDurable: Bool) throws(StoreError) -> OpenedFile {
        try appender.flush()
        var superblock = first
        superblock.generation += 1
        superblock.sequence = snapshot.sequence
        superblock.end = appender.position
        superblock.checkpoint = checkpoint
        superblock.commitChecksum = snapshot.commitChecksum
        if isDurable {
            superblock.durableSequence = superblock.sequence
            superblock.durableEnd = superblock.end
        }
        try FileCreation.write(superblock, to: file.storage, fileID: file.identity.fileID)
        if isDurable { try flush(isDurable: true) }
        return OpenedFile(snapshot: snapshot, superblock: superblock, end: superblock.end, bytesBehind: bytesBehind, zeroedEnd: superblock.end)
    }
}
