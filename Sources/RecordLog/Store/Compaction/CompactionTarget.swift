/// The new file of a compaction, from its header to the superblock that makes it a store.
///
/// Nobody reads it before it has the store's name, and by then it is synced: there is one sync for everything, and what is
/// named is always there.
final class CompactionTarget {
    let file: LogFile
    let appender: FrameAppender
    private let creation: FileCreation
    private let first: Superblock
    /// As of the newest commit that was copied and learnt.
    private(set) var snapshot: Snapshot
    private var checkpoint = FramePointer.none
    /// Bytes of commits that the newest checkpoint does not have.
    private var bytesBehind: UInt64 = 0

    /// - Parameter storeID: nil: the old file's.
    init(
        _ storage: any StorageFile, besides old: LogFile, storeID: (UInt64, UInt64)? = nil, _ creation: FileCreation
    ) throws(StoreError) {
        (file, first) = try creation.begin(storage, storeID: storeID ?? old.identity.storeID, segmentShift: old.identity.segmentShift)
        appender = FrameAppender(
            file: file, at: FileFormat.dataStart, sequence: 0, counters: creation.counters, isSyncedSoon: creation.options.durability != .none,
            flushSize: creation.options.flushSize)
        snapshot = Snapshot.empty(file, creation.counters)
        self.creation = creation
    }

    /// Takes up the file's first commit, whose rows are as of a commit of the old file.
    func begin(_ made: Snapshot) { snapshot = made }

    /// Takes up the commits that were appended behind the snapshot's. As another process's are learnt: what their rows do to
    /// the indexes is written once.
    /// - Parameter hasIndexes: false: they are still to come, and none is made.
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

    /// Gives the file the indexes of the commit that it is as of.
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

    /// Writes what has gathered, and syncs it so that the last sync, which writers wait for, has little to do.
    func flush(isDurable: Bool) throws(StoreError) {
        try appender.flush()
        guard isDurable else { return }
        try file.storage.sync()
        creation.counters.synced()
    }

    /// Makes the file a store, whose name is still to become durable.
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
