import Synchronization

/// Copies indexes to memory on a thread of its own, until somebody else takes the rest or so much has gathered.
final class IndexesAhead: @unchecked Sendable {
    // Unchecked: a job's outcome is written by the thread alone, and read by others once `done` says that it is there.

    /// One index.
    private final class Job {
        let runs: IndexRuns
        let isTaken = Atomic<Bool>(false)
        let isDone = Atomic<Bool>(false)
        let frames = GatheredFrames()
        var outcome: Result<RunWriter, StoreError>?

        init(_ runs: IndexRuns) { self.runs = runs }

        func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
    }

    /// By index ID.
    private let jobs: [Job?]
    private let base: Snapshot
    private let isStopped = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)

    private static let bytesMax: UInt64 = 96 << 20

    private init(_ base: Snapshot) {
        self.base = base
        jobs = base.indexes.map { $0.map(Job.init) }
    }

    /// - Returns: nil where there is little to do, or no thread to do it.
    static func start(_ base: Snapshot, _ options: StoreOptions) -> IndexesAhead? {
        let entries = base.indexes.reduce(UInt64(0)) { $0 + ($1?.diskEntryCount ?? 0) + UInt64($1?.memoryEntryCount ?? 0) }
        guard entries >= options.entriesForThread else { return nil }
        let ahead = IndexesAhead(base)
        return SystemThread.start({ ahead.run() }) ? ahead : nil
    }

    private func run() {
        var room = Self.bytesMax
        for job in jobs {
            guard let job else { continue }
            let bytes = job.runs.diskByteCount + job.runs.memory.reduce(0) { $0 + UInt64($1.byteCount) }
                + job.runs.frozen.reduce(0) { $0 + UInt64($1.byteCount) }
            guard bytes <= room, !isStopped.load(ordering: .acquiring), job.take() else { continue }
            room -= bytes
            var writer = RunWriter(sink: job.frames)
            do throws(StoreError) {
                try job.runs.copy(to: &writer) { () throws(StoreError) in
                    guard !isStopped.load(ordering: .acquiring) else {
                        throw StoreError(.cancelled, path: base.file.path, "the compaction ended", remedy: "The store is as it was.")
                    }
                }
                try writer.closeBlock()
                job.outcome = .success(writer)
            } catch {
                job.outcome = .failure(error)
            }
            job.isDone.store(true, ordering: .releasing)
        }
        hasEnded.store(true, ordering: .releasing)
    }

    /// Whether the caller is to copy this index itself: the thread has not begun it, and will not.
    func takes(_ slot: Int) -> Bool { jobs[slot]?.take() ?? true }

    /// Waits for an index that the thread has begun, and gives it its place.
    func finish(_ slot: Int, to appender: FrameAppender) throws(StoreError) -> Manifest.Run? {
        guard let job = jobs[slot] else { return nil }
        while !job.isDone.load(ordering: .acquiring) { LazyMemory.pause() }
        guard let outcome = job.outcome else { return nil }
        var writer = try outcome.get()
        job.frames.target = appender
        defer { job.frames.release() }
        return try writer.finish()
    }

    /// Waits for the thread's end.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        while !hasEnded.load(ordering: .acquiring) { LazyMemory.pause() }
    }
}

/// Keeps frames until there is an appender that gives them their places.
final class GatheredFrames: FrameSink {
    var target: FrameAppender?
    private var bytes: [UInt8] = []
    private var frames: [(kind: FrameKind, end: Int)] = []
    private var placed: [FramePointer] = []

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        bytes.append(contentsOf: payload)
        frames.append((kind, bytes.count))
        return FrameTicket(number: placed.count + frames.count - 1)
    }

    func place() throws(StoreError) {
        guard let target else { return }
        var start = 0
        for frame in frames {
            let range = start..<frame.end
            let ticket = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
                try target.append(frame.kind, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range])))
            }
            placed.append(target.pointer(ticket))
            start = frame.end
        }
        frames.removeAll()
        bytes.removeAll()
    }

    func pointer(_ ticket: FrameTicket) -> FramePointer { placed[ticket.number] }

    func release() {
        bytes = []
        target = nil
    }
}
