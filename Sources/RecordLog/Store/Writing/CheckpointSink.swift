/// Places the frames of a checkpoint in the log, in batches between the commits.
///
/// A batch is laid down under the store's locks and published by a superblock, so that other writers keep it; between batches
/// commits go on. Each begins with a frame that says how long it is, so that a replay steps over it.
final class CheckpointSink: CheckpointFrameSink {
    private let store: LogStore
    private let file: LogFile
    private let sequence: UInt64
    /// The newest checkpoint when this one began: where another has come since, this one is given up.
    private let previous: FramePointer
    /// Whether the caller holds the store's locks all the time.
    private let isExclusive: Bool
    /// To make batches durable while commits go on: an opening of its own, since a failed sync is told to each opening once.
    private let syncing: (any StorageFile)?

    private var bytes: [UInt8] = []
    private var frames: [(kind: FrameKind, start: Int)] = []
    private var pointers: [FramePointer] = []
    private(set) var logEnd: UInt64

    /// A batch is placed once it has so much, where no commit is being made; else once it has as much as commits may be kept waiting for.
    private static let batchSize = 1 << 20, batchSizeMax = 4 << 20

    /// - Parameter logEnd: where the log ended when the snapshot was the newest.
    init(_ store: LogStore, base: Snapshot, logEnd: UInt64, previous: FramePointer, isExclusive: Bool) throws(StoreError) {
        self.store = store
        file = base.file
        sequence = base.sequence
        self.previous = previous
        self.isExclusive = isExclusive
        self.logEnd = logEnd
        if isExclusive || store.options.durability == .none {
            syncing = nil
        } else {
            let opened = try store.fileSystem.open(store.path, .readWrite)
            guard opened.identity == base.file.storage.identity else { throw Self.abandoned(store.path) }
            syncing = opened
        }
    }

    static func abandoned(_ path: String) -> StoreError {
        StoreError(
            .superseded, path: path, "another checkpoint or a compaction came first", remedy: "Nothing is to be done: it serves as well.")
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

    func place() throws(StoreError) { try flush() }

    func flush() throws(StoreError) { try flush(waiting: true) }

    /// - Parameter waiting: whether to wait for whoever in this process is writing at this moment; else nothing is done then.
    private func flush(waiting: Bool) throws(StoreError) {
        guard !frames.isEmpty else { return }
        if isExclusive {
            try writeBatch()
        } else {
            let isPublished = try store.lockedForWriting(waiting: waiting) { () throws(StoreError) in
                guard store.writer.file === file, store.writer.superblock.checkpoint == previous else { throw Self.abandoned(store.path) }
                let end = store.writer.end
                try writeBatch()
                do throws(StoreError) {
                    try store.writeSuperblock(store.writer.superblock(upTo: store.writer.end))
                } catch {
                    // What no superblock has published another writer cuts off.
                    store.takeBack(to: end)
                    throw error
                }
            }
            guard isPublished else { return }
            try sync()
        }
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
    }

    private func writeBatch() throws(StoreError) {
        let writer = store.writer
        let appender = FrameAppender(file: file, at: writer.end, sequence: max(sequence, writer.superblock.sequence), counters: store.counters)
        do throws(StoreError) {
            try appender.beginBatch(bytes: bytes.count + frames.count * 2 * FrameHeader.lengthMin)
            for (index, frame) in frames.enumerated() {
                let end = index + 1 < frames.count ? frames[index + 1].start : bytes.count
                pointers.append(try bytes[frame.start..<end].withUnsafeBufferPointer { payload throws(StoreError) in
                    try appender.place(frame.kind, UnsafeRawBufferPointer(payload))
                })
            }
            appender.endBatch()
            try store.write(appender)
        } catch {
            store.abandon(appender)
            throw error
        }
        // Nothing else waits for the disk meanwhile.
        if isExclusive, store.options.durability != .none { file.storage.willSync(writer.end..<appender.position) }
        if logEnd == writer.end { logEnd = appender.position }
        writer.end = appender.position
    }

    /// Makes what was placed durable, beside the commits.
    func sync() throws(StoreError) {
        guard let syncing else { return }
        do throws(StoreError) {
            try syncing.sync()
            store.counters.synced()
        } catch {
            try store.exclusively { () throws(StoreError) in store.writer.poison = store.writer.poison ?? error }
            throw error
        }
    }
}
