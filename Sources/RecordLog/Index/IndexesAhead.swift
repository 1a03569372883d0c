import Synchronization

/// Writes runs of indexes to memory on a thread of its own, until somebody else takes the rest or so much has gathered.
///
/// Its user takes indexes from the other end meanwhile, and lets those that the thread has made follow.
final class IndexesAhead: @unchecked Sendable {
    // Unchecked: a job's outcome is written by the thread alone, and read by others once `isDone` says that it is there.

    /// One index.
    private final class Job {
        let merge: RunMerge
        let isTaken = Atomic<Bool>(false)
        let isDone = Atomic<Bool>(false)
        let frames = GatheredFrames()
        var outcome: Result<FlushedRuns, StoreError>?

        init(_ merge: RunMerge) { self.merge = merge }

        func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
    }

    /// By index ID.
    private let jobs: [Job?]
    private let path: String
    private let isStopped = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)

    private static let bytesMax: UInt64 = 96 << 20

    private init(_ merges: [RunMerge?], _ path: String) {
        jobs = merges.map { $0.map(Job.init) }
        self.path = path
    }

    /// - Parameter merges: by index ID.
    /// - Returns: nil where there is little to do, or no thread to do it.
    static func start(_ merges: [RunMerge?], path: String, _ options: StoreOptions) -> IndexesAhead? {
        guard merges.reduce(UInt64(0), { $0 + ($1?.entryCount ?? 0) }) >= options.entriesForThread else { return nil }
        let ahead = IndexesAhead(merges, path)
        return SystemThread.start({ ahead.run() }) ? ahead : nil
    }

    private func run() {
        var room = Self.bytesMax
        for job in jobs {
            guard let job, !isStopped.load(ordering: .acquiring) else { continue }
            let bytes = job.merge.byteCount
            guard bytes <= room, job.take() else { continue }
            room -= bytes
            do throws(StoreError) {
                job.outcome = .success(try job.merge.write(to: job.frames) { () throws(StoreError) in
                    guard !isStopped.load(ordering: .acquiring) else {
                        throw StoreError(.cancelled, path: path, "what the indexes were for ended", remedy: "The store is as it was.")
                    }
                })
            } catch {
                job.outcome = .failure(error)
            }
            job.isDone.store(true, ordering: .releasing)
        }
        hasEnded.store(true, ordering: .releasing)
    }

    /// Whether the caller is to write this index itself: the thread has not begun it, and will not.
    func takes(_ slot: Int) -> Bool { jobs[slot]?.take() ?? true }

    /// Waits for an index that the thread has begun, and gives its blocks to a sink.
    func finish(_ slot: Int, to sink: any FrameSink) throws(StoreError) -> FlushedRuns? {
        guard let job = jobs[slot] else { return nil }
        while !job.isDone.load(ordering: .acquiring) { LazyMemory.pause() }
        guard let made = try job.outcome?.get() else { return nil }
        return made.moved(to: try job.frames.move(to: sink))
    }

    /// Waits for the thread's end.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        while !hasEnded.load(ordering: .acquiring) { LazyMemory.pause() }
    }
}

/// Keeps frames until there is a sink that gives them their places.
private final class GatheredFrames: FrameSink {
    private var bytes: [UInt8] = []
    private var frames: [(kind: FrameKind, end: Int)] = []

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        bytes.append(contentsOf: payload)
        frames.append((kind, bytes.count))
        return FrameTicket(number: frames.count - 1)
    }

    func place() throws(StoreError) {}

    func pointer(_ ticket: FrameTicket) -> FramePointer { preconditionFailure("what is gathered has no place") }

    /// - Returns: the other sink's tickets, by the numbers of those here.
    func move(to sink: any FrameSink) throws(StoreError) -> [FrameTicket] {
        defer { (bytes, frames) = ([], []) }
        var tickets: [FrameTicket] = []
        var start = 0
        for frame in frames {
            let range = start..<frame.end
            tickets.append(try bytes[range].withUnsafeBufferPointer { payload throws(StoreError) in
                try sink.append(frame.kind, UnsafeRawBufferPointer(payload))
            })
            start = frame.end
        }
        return tickets
    }
}
