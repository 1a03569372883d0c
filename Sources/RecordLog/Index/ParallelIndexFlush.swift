import Synchronization

/// Writes the runs of indexes with two threads. A separate thread starts at one end and writes to memory, until its limit is reached or no
/// index is left. `write` starts at the other end, then appends the runs that the thread has made.
final class ParallelIndexFlush: @unchecked Sendable {
    // Unchecked: only the thread writes a job's outcome; others read it after its `end` has finished.

    /// The flush of one index.
    private final class Job {
        let merge: RunMerge
        let isTaken = Atomic<Bool>(false)
        let end = Completion()
        let frames: GatheredFrames
        var outcome: Result<FlushedRuns, StoreError>?

        init(_ merge: RunMerge, payloadMax: Int) {
            self.merge = merge
            frames = GatheredFrames(payloadMax: payloadMax)
        }

        /// - Returns: whether the caller may do this job; false if the other thread has it.
        func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }

        /// Moves the thread's frames to a sink.
        func move(to sink: any FrameSink) throws(StoreError) -> FlushedRuns {
            guard let made = try outcome?.get() else { preconditionFailure("a flush that is done has an outcome") }
            return made.moved(to: try frames.move(to: sink))
        }
    }

    /// By index ID.
    private let jobs: [Job?]
    private let path: String
    private let thread = StoppableThread()

    /// The most bytes that the thread keeps in memory: so many times those of one index before it spills, within a limit.
    private let bytesMax: UInt64
    private static let perIndexMemory: UInt64 = 6, limit: UInt64 = 96 << 20

    /// Starts the thread if there is enough to do.
    /// - Parameters:
    ///   - merges: by index ID.
    ///   - file: the store's file; the file that is written has segments of the same size.
    init(_ merges: [RunMerge?], of file: LogFile, _ options: StoreOptions) {
        jobs = merges.map { $0.map { Job($0, payloadMax: file.payloadMax) } }
        path = file.path
        bytesMax = min(UInt64(max(0, options.indexMemory)), Self.limit / Self.perIndexMemory) * Self.perIndexMemory
        guard merges.reduce(UInt64(0), { $0 + ($1?.entryCount ?? 0) }) >= options.entriesForThread else { return }
        // Without a thread `write` does all of them.
        _ = thread.start { self.run() }
    }

    private func run() {
        var room = bytesMax
        for job in jobs {
            guard let job, !thread.isStopped else { continue }
            let bytes = job.merge.byteCount
            guard bytes <= room, job.take() else { continue }
            room -= bytes
            job.frames.reserve(Int(bytes))
            do throws(StoreError) {
                job.outcome = .success(try job.merge.write(to: job.frames) { () throws(StoreError) in try thread.check(path) })
            } catch {
                job.outcome = .failure(error)
            }
            job.end.finish()
        }
    }

    /// Appends the runs' blocks to a sink; their roots must follow.
    /// - Parameters:
    ///   - check: called from time to time; an error that it throws ends the writing.
    ///   - recover: makes the runs of an index that cannot be read.
    /// - Returns: the runs by index ID.
    func write(
        to sink: any FrameSink, _ check: () throws(StoreError) -> Void = {},
        recover: (Int, StoreError) throws(StoreError) -> FlushedRuns = { (_, error) throws(StoreError) in throw error }
    ) throws(StoreError) -> [FlushedRuns?] {
        var made = [FlushedRuns?](repeating: nil, count: jobs.count)
        func make(_ number: Int, _ body: () throws(StoreError) -> FlushedRuns) throws(StoreError) {
            do throws(StoreError) {
                made[number] = try body()
            } catch {
                made[number] = try recover(number, error)
            }
        }
        for (number, job) in jobs.enumerated().reversed() {
            guard let job, job.take() else { continue }
            try make(number) { () throws(StoreError) in try job.merge.write(to: sink, check) }
        }
        for (number, job) in jobs.enumerated() where made[number] == nil {
            guard let job else { continue }
            try check()
            job.end.wait()
            try make(number) { () throws(StoreError) in try job.move(to: sink) }
        }
        return made
    }

    /// Stops the thread and waits for its end.
    func stop() { thread.stop() }
}

/// Keeps frames in memory until another sink takes them.
private final class GatheredFrames: FrameSink {
    let payloadMax: Int
    private var bytes: [UInt8] = []
    private var frames: [(kind: FrameKind, end: Int)] = []

    init(payloadMax: Int) { self.payloadMax = payloadMax }

    /// Reserves about as much memory as is needed.
    func reserve(_ byteCount: Int) { bytes.reserveCapacity(byteCount) }

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        bytes.append(contentsOf: payload)
        frames.append((kind, bytes.count))
        return FrameTicket(number: frames.count - 1)
    }

    /// - Returns: the other sink's tickets, by their numbers in this sink.
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
