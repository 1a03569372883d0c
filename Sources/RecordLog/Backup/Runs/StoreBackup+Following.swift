import Synchronization

extension StoreBackup {
    /// How far a backup that follows a store is.
    public struct Status: Sendable {
        /// The result of all passes so far.
        public var total = Report()
        /// The result of the newest pass.
        public var newest = Report()
        /// The longest time, in microseconds, from a commit that the newest pass has put until that pass was done; nil if it put none.
        public var lag: Int64?
        /// The longest lag of all passes.
        public var greatestLag: Int64 = 0
        /// The time since when the destination or the store could not be reached, in microseconds since 1970; nil if the newest pass succeeded.
        public var behindSince: Int64?
        /// The reason.
        public var error: (any Error)?
    }

    /// Backs up the store again and again, until the task is cancelled. It then puts what is left, and returns.
    ///
    /// A failure of the destination, and of the store's file, is tried again, after a time that grows to a minute. Writers do not notice.
    /// - Parameters:
    ///   - interval: the time between two passes; at most one increment is put in it, unless its commits have more than `bytesMax` bytes. A head
    ///     is put by a pass that has no new commits, by each tenth other one, and by the last.
    ///   - status: called after each pass.
    /// - Throws: `diverged`, `newerVersion` and other errors that no repetition mends; the error of the last pass, if that failed.
    public func follow(every interval: Duration = .seconds(1), status: @escaping @Sendable (Status) -> Void = { _ in }) async throws {
        try await FollowStop.run { stop in try await follow(interval, stop, status) }
    }

    private func follow(_ interval: Duration, _ stop: FollowStop, _ show: @Sendable (Status) -> Void) async throws {
        let run = BackupRun(of: path, to: destination, options), fileSystem = options.resolvedFileSystem(), merging = FollowMerge()
        var status = Status(), failures = 0, increments = 0
        while true {
            // What is committed before the stop is put by the last pass.
            let isLast = stop.isStopped, start = fileSystem.now()
            var report = Report(), failure: (any Error)?
            do {
                try await run.pass(bytesMax: bytesMax, headAfter: isLast ? 1 : Self.archivesBetweenHeads, &report)
            } catch {
                failure = error
            }
            status.note(report, failure, from: start, to: fileSystem.now())
            show(status)
            failures = failure == nil ? 0 : failures + 1
            increments += report.archives - report.baseArchives
            if let mergesAfter, increments >= mergesAfter, !isLast, failure == nil, let storeID = report.storeID {
                increments = 0
                merging.begin { try await merge(storeID) }
            }
            if isLast || failure.map(Self.isTemporary) == false { await merging.end() }
            if let failure, isLast || !Self.isTemporary(failure) { throw failure }
            if isLast { return }
            await stop.sleep(for: FollowStop.wait(interval, afterFailures: failures))
        }
    }

    private func merge(_ storeID: StoredUUID) async throws {
        try await BackupArchives(at: destination, options: options)
            .merge(bytesMax: bytesMax, ofAtMost: Self.smallMax, atLeast: Self.smallCount, storeID: storeID)
    }

    /// A head takes a put too, which some object stores charge for. A pass without new commits puts it before.
    private static let archivesBetweenHeads = 10

    private static let smallMax: UInt64 = 1 << 20
    /// Fewer small archives in a row are not worth a merge.
    private static let smallCount = 16

    /// Whether a later attempt may succeed.
    static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case let error as BackupError: error.isTemporary || error.code == .notFound || error.code == .damaged || error.code == .exists
        case let error as StoreError: [.io, .noSpace, .permissionDenied, .notFound, .locked, .superseded].contains(error.code)
        // Of a destination of the client's, which throws its own errors.
        default: true
        }
    }
}

/// The merge of small archives that runs beside the passes, since it may take minutes. One that fails is tried again when the next is due: the
/// archives serve as they are.
private final class FollowMerge: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Begins a merge, unless one is under way.
    func begin(_ merge: @escaping @Sendable () async throws -> Void) {
        task.withLock { task in
            guard task == nil else { return }
            task = Task {
                try? await merge()
                self.task.withLock { $0 = nil }
            }
        }
    }

    /// Ends a merge that is under way. The destination then has each archive that it had, or the larger one with its commits.
    func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}

extension StoreBackup.Status {
    fileprivate mutating func note(_ report: StoreBackup.Report, _ failure: (any Error)?, from start: Int64, to now: Int64) {
        total.add(report)
        newest = report
        lag = report.oldestTime.map { max(0, now - $0) }
        greatestLag = max(greatestLag, lag ?? 0)
        error = failure
        // A destination may try for minutes before it gives up.
        behindSince = failure == nil ? nil : behindSince ?? start
    }
}

extension StoreBackup.Report {
    fileprivate mutating func add(_ other: StoreBackup.Report) {
        storeID = other.storeID ?? storeID
        lineage = other.lineage ?? lineage
        sequence = max(sequence, other.sequence)
        storeSequence = max(storeSequence, other.storeSequence)
        archives += other.archives
        baseArchives += other.baseArchives
        bytes += other.bytes
        commitBytes += other.commitBytes
        commits += other.commits
        missing += other.missing
        damagedIndexes += other.damagedIndexes
        oldestTime = other.oldestTime
    }
}
