/// The commit with which a store begins a line of its own, so that a backup never confuses it with the line that it was restored from.
struct LineageCommit {
    let lineage: Lineage
    let author: String
    let options: StoreOptions

    /// Appends the commit to a file that was opened, and that no other process writes.
    ///
    /// A crash leaves the file with the commit or without it. A replica may be none any more, without the commit: a promotion is repeated then.
    /// - Returns: the superblock, written and durable, and the log's end.
    func append(to opened: OpenedFile, path: String, now: Int64) throws(StoreError) -> Superblock {
        let base = opened.snapshot, file = base.file, counters = Counters()
        var end = opened.end, superblock = opened.superblock
        if superblock.isReplica {
            // First, so that a follower never finds the commit in a file that it takes for a replica.
            superblock.isReplica = false
            superblock.generation += 1
            try FileCreation.write(superblock, to: file.storage, fileID: file.identity.fileID)
            try file.storage.sync()
        }
        if opened.bytesBehind > Self.checkpointFrom {
            let sink = FrameAppender(file: file, at: end, sequence: base.sequence, counters: counters, isSyncedSoon: true)
            superblock.checkpoint = try CheckpointBuilder(base: base, sink: sink, options: options).build(previous: superblock.checkpoint).manifest
            try sink.flush()
            end = sink.position
        }
        let appender = FrameAppender(file: file, at: end, sequence: base.sequence + 1, counters: counters, isSyncedSoon: true)
        let transaction = Transaction(
            base: base, appender: appender, maintainers: IndexMaintainers(catalog: base.catalog, options: options, path: path))
        try transaction.setSystemRow(Lineage.row, lineage.encoded())
        try transaction.finish()
        let name = Array(author.utf8)
        let frame = try appender.appendFooter(
            CommitFooter(
                sequence: base.sequence + 1, previousChecksum: base.commitChecksum, timestamp: now,
                durableSequence: superblock.durableSequence, rowCount: transaction.rowCount, authorLength: UInt16(name.count)),
            author: name)
        try appender.flush()
        try file.storage.sync()
        superblock.generation += 1
        superblock.sequence = base.sequence + 1
        superblock.end = appender.position
        superblock.durableSequence = superblock.sequence
        superblock.durableEnd = superblock.end
        superblock.commitChecksum = frame.checksum
        try FileCreation.write(superblock, to: file.storage, fileID: file.identity.fileID)
        try file.storage.sync()
        return superblock
    }

    /// Less log than this is replayed at each opening.
    private static let checkpointFrom: UInt64 = 64 << 10

    /// A line that leaves the one of a snapshot.
    static func fork(of snapshot: Snapshot, id: StoredUUID) throws(StoreError) -> Lineage {
        Lineage(
            id: id,
            fork: Lineage.Fork(
                parent: try Lineage(of: snapshot).id, sequence: snapshot.sequence, checksum: snapshot.commitChecksum,
                fileID: snapshot.file.identity.fileID))
    }
}
