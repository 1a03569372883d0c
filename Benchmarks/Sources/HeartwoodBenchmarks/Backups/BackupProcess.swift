import Foundation
import RecordLog
import Synchronization

/// The work of a process that backs up, restores or follows, and does nothing else, so that its memory can be told.
enum BackupProcess {
    static let backup = "--measure-backup", restore = "--measure-restore", follow = "--measure-following", sync = "--sync-each-second"
    static let commands = [backup, restore, follow, sync]

    /// The child's side.
    static func run(_ arguments: [String]) throws {
        switch (arguments.first, arguments.count) {
        case (backup, 3): try measure { try await StoreBackup(of: arguments[1], to: DirectoryDestination(path: arguments[2])).run() }
        case (restore, 4): try restore(DirectoryDestination(path: arguments[1]), to: arguments[2], at: arguments[3])
        case (sync, 2): try SyncingProcess.sync(in: URL(fileURLWithPath: arguments[1]))
        case (follow, 3): try follow(StoreBackup(of: arguments[1], to: DirectoryDestination(path: arguments[2])))
        default: throw PeerError(description: "wrong arguments: \(arguments)")
        }
    }

    /// - Parameter commit: a number; 0 for the newest, -1 for the one in the middle.
    private static func restore(_ destination: DirectoryDestination, to path: String, at commit: String) throws {
        let lines = try Blocking.run { try await BackupArchives(at: destination).list() }
        let newest = lines.first?.newest ?? 0
        let point: StoreRestore.Point = switch commit {
        case "0": .newest
        case "-1": .commit(newest / 2)
        default: .commit(UInt64(commit) ?? newest)
        }
        try measure { try await StoreRestore(from: destination, to: path).run(at: point) }
    }

    /// Prints the seconds and the most private memory.
    private static func measure(_ work: @escaping @Sendable () async throws -> some Sendable) throws {
        let before = ProcessFigures.privateMemory, peak = PeakMemory()
        let seconds = try Clock.seconds { _ = try Blocking.run(work) }.1
        print(seconds, peak.end() - min(before, peak.end()))
    }

    /// Follows until the input ends, and prints the lag's 99th percentile in seconds, the bytes put for each byte of commits, objects a second,
    /// and the most private memory.
    private static func follow(_ backup: StoreBackup) throws {
        let figures = FollowingFigures(), before = ProcessFigures.privateMemory, peak = PeakMemory()
        try Blocking.run {
            let task = Task { try await backup.follow { figures.note($0) } }
            // Its own thread waits for the end of the input.
            Thread.detachNewThread {
                _ = FileHandle.standardInput.readDataToEndOfFile()
                task.cancel()
            }
            try await task.value
        }
        let seen = figures.seen
        guard let report = seen.total else { throw PeerError(description: "the backup made no pass") }
        let increments = Double(report.bytes - seen.fullBytes)
        print(
            Clock.percentile99(seen.lags), increments / Double(max(1, report.commitBytes)), seen.incrementsASecond, peak.end() - min(before, peak.end()))
    }
}

/// The figures of a backup that follows, added up over its passes.
private final class FollowingFigures: Sendable {
    struct Seen {
        /// In seconds.
        var lags: [Double] = []
        var total: StoreBackup.Report?
        var fullBytes: UInt64 = 0
        /// When each increment was put, after the first pass.
        var increments: [ContinuousClock.Instant] = []

        /// Without the last increment, which the end of the process causes.
        var incrementsASecond: Double {
            let regular = increments.dropLast()
            guard let first = regular.first, let last = regular.last, last > first else { return 0 }
            return Double(regular.count - 1) / (first.duration(to: last) / .seconds(1))
        }
    }

    private let state = Mutex(Seen())

    var seen: Seen { state.withLock { $0 } }

    func note(_ status: StoreBackup.Status) {
        state.withLock { seen in
            let isFirst = seen.total == nil
            seen.total = status.total
            if status.newest.baseArchives > 0 { seen.fullBytes += status.newest.bytes }
            // The first pass puts the commits from before this process began.
            guard !isFirst else { return }
            if let lag = status.lag { seen.lags.append(Double(lag) / 1e6) }
            if status.newest.archives > status.newest.baseArchives { seen.increments.append(.now) }
        }
    }
}

/// A process that follows a store. The full copy is at the destination once it is made.
final class FollowingProcess {
    private let process: Process
    private let input = Pipe(), output = Pipe()

    init(_ store: String, _ backups: String) throws {
        process = ChildProcess.process(with: [BackupProcess.follow, store, backups])
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let backup = StoreBackup(of: store, to: DirectoryDestination(path: backups))
        for _ in 0..<6000 {
            let standing = try Blocking.run { try await backup.standing() }
            if standing.sequence == standing.storeSequence { return }
            usleep(100_000)
        }
        throw PeerError(description: "the following process did not make its full copy")
    }

    /// - Returns: the numbers that `BackupProcess` prints.
    func end() throws -> [Double] {
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 4 else { throw PeerError(description: "the following process failed") }
        return numbers
    }
}

/// Waits for asynchronous work.
enum Blocking {
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    @discardableResult
    static func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Outcome<Value>(), end = DispatchSemaphore(value: 0)
        Task {
            do {
                let value = try await work()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            end.signal()
        }
        end.wait()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
