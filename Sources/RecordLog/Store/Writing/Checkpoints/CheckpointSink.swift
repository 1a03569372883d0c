/// Writes the frames of a checkpoint to the log, in batches between the commits.
///
/// A batch is written under the store's locks and published by a superblock, so that other writers keep it. Commits go on between batches. A
/// batch begins with a frame that has its length, so that a replay steps over it.
final class CheckpointSink: CheckpointFrameSink {
    private let store: LogStore
    private let file: LogFile
    private let sequence: UInt64
    /// The newest checkpoint when this one began. If another one has been written since, this one is abandoned.
    private let previous: FramePointer
    /// The store with its locks, if the caller holds them throughout.
    private let exclusive: LockedStore?
    /// A handle of its own that syncs batches while commits go on: the system reports a failed sync once to each open file.
    private let syncing: (any StorageFile)?

    private var bytes: [UInt8] = []
    private var frames: [(kind: FrameKind, start: Int)] = []
    private var pointers: [FramePointer] = []
    private(set) var logEnd: UInt64

    /// Bytes of a batch. It is written from the first size on if no commit is in progress, and at the second size in any case, since commits
    /// wait meanwhile.
    private static let batchSize = 1 << 20, batchSizeMax = 4 << 20

    /// Takes the locks for each batch.
    /// - Parameter logEnd: the log's end when the snapshot was the newest.
    init(_ store: LogStore, base: Snapshot, logEnd: UInt64, previous: FramePointer) throws(StoreError) {
        self.store = store
        file = base.file
        sequence = base.sequence
        self.previous = previous
        exclusive = nil
        self.logEnd = logEnd
        if store.options.durability == .none {
            syncing = nil
        } else {
            let opened = try store.fileSystem.open(store.path, .readWrite)
            guard opened.identity == base.file.storage.identity else { throw Self.abandoned(store.path) }
            syncing = opened
        }
    }

    /// For a caller that holds the locks as long as it uses the sink.
    init(exclusively locked: LockedStore, base: Snapshot, logEnd: UInt64) {
        store = locked.store
        file = base.file
        sequence = base.sequence
        previous = locked.writer.superblock.checkpoint
        exclusive = locked
        self.logEnd = logEnd
        syncing = nil
    }

    static func abandoned(_ path: String) -> StoreError {
        StoreError(
            .superseded, path: path, "another checkpoint or a compaction came first", remedy: "Nothing is to be done: the other one serves.")
    }

    var payloadMax: Int { file.payloadMax }

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        frames.append((kind, bytes.count))
        bytes.append(contentsOf: payload)
        let ticket = FrameTicket(number: pointers.count + frames.count - 1)
        if bytes.count >= Self.batchSize { try flush(waiting: bytes.count >= Self.batchSizeMax) }
        return ticket
    }

    func pointer(_ ticket: FrameTicket) -> FramePointer { pointers[ticket.number] }

    func assignOffsets() throws(StoreError) { try flush() }

    func flush() throws(StoreError) { try flush(waiting: true) }

    /// - Parameter waiting: whether to wait for another thread of this process that is writing. If false and one is, this does nothing.
    private func flush(waiting: Bool) throws(StoreError) {
        guard !frames.isEmpty else { return }
        if let exclusive {
            try writeBatch(exclusive)
        } else {
            let isPublished = try store.lockedForWriting(waiting: waiting) { locked throws(StoreError) in
                let writer = locked.writer, end = writer.end
                guard writer.file === file, writer.superblock.checkpoint == previous else { throw Self.abandoned(store.path) }
                try writeBatch(locked)
                do throws(StoreError) {
                    try locked.writeSuperblock(writer.superblock(upTo: writer.end))
                } catch {
                    // Other writers cut off bytes that no superblock has published.
                    locked.takeBack(to: end)
                    throw error
                }
            }
            guard isPublished else { return }
            try sync()
        }
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
    }

    private func writeBatch(_ locked: LockedStore) throws(StoreError) {
        let writer = locked.writer
        let appender = FrameAppender(file: file, at: writer.end, sequence: max(sequence, writer.superblock.sequence), counters: store.counters)
        do throws(StoreError) {
            try appender.beginBatch(bytes: bytes.count + frames.count * 2 * FrameHeader.lengthMin)
            for (index, frame) in frames.enumerated() {
                let end = index + 1 < frames.count ? frames[index + 1].start : bytes.count
                pointers.append(try bytes[frame.start..<end].withUnsafeBufferPointer { payload throws(StoreError) in
                    try appender.appendFrame(frame.kind, UnsafeRawBufferPointer(payload))
                })
            }
            appender.endBatch()
            try locked.write(appender)
        } catch {
            locked.abandon(appender)
            throw error
        }
        // Nothing else waits for the disk in the meantime.
        if exclusive != nil, store.options.durability != .none { file.storage.willSync(writer.end..<appender.position) }
        if logEnd == writer.end { logEnd = appender.position }
        writer.end = appender.position
    }

    /// Makes the written batches durable while commits go on.
    func sync() throws(StoreError) {
        guard let syncing else { return }
        do throws(StoreError) {
            try syncing.sync()
            store.counters.synced()
        } catch {
            try store.exclusively { locked throws(StoreError) in locked.writer.poison = locked.writer.poison ?? error }
            throw error
        }
    }
}
