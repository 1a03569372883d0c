import Foundation
import RecordLog

/// Measures a full backup and a restore beside `cp` with a sync, and a backup that follows a writer of small saves.
struct BackupRunner {
    let rows: Int
    let repetitions: Int
    /// How long the writer is followed, in seconds.
    let seconds: Int
    let only: String?
    let directory: URL

    static let names = ["Heartwood", "cp and sync"]

    private var store: String { directory.appendingPathComponent("backed-up.heartwood").path }
    private var backups: String { directory.appendingPathComponent("backups").path }
    private var copy: String { directory.appendingPathComponent("copy.heartwood").path }

    func run() throws -> [Measurement] {
        let generator = PersonGenerator(count: rows), peer = try EnginePeer(path: store, generator: generator)
        FileHandle.standardError.write(Data("\(rows) persons, to be backed up\n".utf8))
        try peer.open()
        try peer.bulkInsert()
        try peer.close()
        defer { for path in [store, backups, copy] { try? FileManager.default.removeItem(atPath: path) } }
        return try fullCopies() + middle() + following(generator)
    }

    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    private func figure(_ workload: String, _ peer: Int, _ value: Double, _ unit: String) -> Measurement {
        FileHandle.standardError.write(Data("  \(workload), \(Self.names[peer]): \(value) \(unit)\n".utf8))
        return Measurement(workload: workload, rows: rows, peer: Self.names[peer], value: value, unit: unit)
    }

    private func removed(_ path: String) -> String {
        try? FileManager.default.removeItem(atPath: path)
        return path
    }

    // MARK: Whole stores

    /// The repetitions of each work take turns.
    private func fullCopies() throws -> [Measurement] {
        guard wants("full backup") || wants("restore") else { return [] }
        var times: [String: [Double]] = [:], memory: [String: [Double]] = [:]
        func note(_ name: String, _ numbers: [Double]) throws {
            guard numbers.count == 2 else { throw PeerError(description: "\(name): the process failed") }
            times[name, default: []].append(numbers[0])
            memory[name, default: []].append(numbers[1] / 1_048_576)
        }
        for _ in 0..<repetitions {
            SuppliedMemory.settle(rows: rows)
            try note("full backup", try ChildProcess.numbers(from: [BackupProcess.backup, store, removed(backups)]))
            SuppliedMemory.settle(rows: rows)
            times["copy", default: []].append(try ShellCopy.seconds(store, to: removed(copy)))
            SuppliedMemory.settle(rows: rows)
            try note("restore", try ChildProcess.numbers(from: [BackupProcess.restore, backups, removed(copy), "0"]))
        }
        let cp = Clock.median(times["copy"] ?? [])
        return ["full backup", "restore"].flatMap { name in
            [
                figure(name, 0, Clock.median(times[name] ?? []), "s"), figure(name, 1, cp, "s"),
                figure("\(name), memory", 0, Clock.median(memory[name] ?? []), "MiB"),
            ]
        }
    }

    /// A commit in the middle, beside a copy of as many bytes as the commits until then have.
    private func middle() throws -> [Measurement] {
        let name = "restore to the middle"
        guard wants(name) else { return [] }
        if !FileManager.default.fileExists(atPath: backups) {
            _ = try ChildProcess.numbers(from: [BackupProcess.backup, store, backups])
        }
        var times: [Double] = [], copies: [Double] = []
        for _ in 0..<repetitions {
            SuppliedMemory.settle(rows: rows)
            let numbers = try ChildProcess.numbers(from: [BackupProcess.restore, backups, removed(copy), "-1"])
            guard numbers.count == 2 else { throw PeerError(description: "\(name): the process failed") }
            times.append(numbers[0])
            let bytes = try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int ?? 0
            SuppliedMemory.settle(rows: rows)
            copies.append(try ShellCopy.seconds(store, to: removed(copy), bytes: bytes))
        }
        return [figure(name, 0, Clock.median(times), "s"), figure(name, 1, Clock.median(copies), "s")]
    }

    // MARK: Following

    /// The turns of the writer are short, since a disk that others use changes more from one minute to the next than a follower slows it.
    private static let turn = 10

    /// Measures the saves of a writer, which makes at most a thousand a second. Its turns are of three kinds: it is alone, a second process
    /// follows the store, or a second process syncs a file each second.
    private func following(_ generator: PersonGenerator) throws -> [Measurement] {
        guard wants("following") else { return [] }
        _ = removed(backups)
        let peer = try EnginePeer(path: store, generator: generator), writer = PacedWriter(peer, generator, savesPerSecond: 1000)
        try peer.open()
        _ = removed(copy)
        _ = try ChildProcess.numbers(from: [BackupProcess.backup, store, backups])
        try updateReplica()
        var alone: [Double] = [], followed: [Double] = [], synced: [Double] = [], figures: [[Double]] = []
        for _ in 0..<max(1, seconds / Self.turn) {
            alone.append(try writer.run(seconds: Self.turn))
            let process = try FollowingProcess(store, backups)
            followed.append(try writer.run(seconds: Self.turn))
            figures.append(try process.end())
            let other = try SyncingProcess(in: directory)
            synced.append(try writer.run(seconds: Self.turn))
            try other.end()
        }
        try peer.close()
        try updateReplica()
        func worst(_ index: Int) -> Double { figures.map { $0[index] }.max() ?? 0 }
        func mean(_ times: [Double]) -> Double { times.reduce(0, +) / Double(times.count) }
        let before = mean(alone)
        return [
            figure("following, lag, 99th", 0, worst(0), "s"),
            figure("following, bytes a byte of commits", 0, worst(1), "×"),
            figure("following, objects a second", 0, worst(2), "1/s"),
            figure("following, memory", 0, worst(3) / 1_048_576, "MiB"),
            figure("following, a save without it", 0, before * 1e6, "µs"),
            figure("following, a save with it", 0, mean(followed) * 1e6, "µs"),
            figure("following, writer slowed by", 0, (mean(followed) / before - 1) * 100, "%"),
            figure("following, writer slowed by a sync each second", 0, (mean(synced) / before - 1) * 100, "%"),
        ] + (try openReplica())
    }

    private func updateReplica() throws {
        let replica = StoreReplica(from: DirectoryDestination(path: backups), at: copy)
        try Blocking.run { try await replica.update() }
    }

    /// A replica has no checkpoints behind its full copy, so opening it replays the commits since.
    private func openReplica() throws -> [Measurement] {
        let bases = try Blocking.run { [backups] in try await BackupArchives(at: DirectoryDestination(path: backups)).list() }
            .flatMap(\.archives).filter(\.isBase)
        var options = StoreOptions()
        options.isReadOnly = true
        let (opened, seconds) = try Clock.seconds { try LogStore.open(path: copy, options: options) }
        let commits = opened.snapshot().sequence - (bases.map(\.commits.upperBound).max() ?? 0)
        return [
            figure("following, opening a replica", 0, seconds * 1e3, "ms"), figure("following, commits behind its full copy", 0, Double(commits), ""),
        ]
    }
}

/// A writer that saves at regular times, as far as it gets on with it.
private struct PacedWriter {
    private let peer: EnginePeer
    private let numbers: [Int]
    private let interval: Double

    init(_ peer: EnginePeer, _ generator: PersonGenerator, savesPerSecond: Double) {
        self.peer = peer
        numbers = generator.sample(min(10_000, generator.count / 2))
        interval = 1 / savesPerSecond
    }

    /// - Returns: the mean seconds for a save, without the pauses.
    func run(seconds: Int) throws -> Double {
        let clock = ContinuousClock(), start = clock.now
        var saving = 0.0, saves = 0
        while true {
            let due = start.advanced(by: .seconds(Double(saves) * interval)), now = clock.now
            guard (now - start) / .seconds(1) < Double(seconds) else { break }
            if due > now { Thread.sleep(forTimeInterval: (due - now) / .seconds(1)) }
            saving += try Clock.seconds { try peer.saveOne(numbers[saves % numbers.count]) }.1
            saves += 1
        }
        return saving / Double(max(1, saves))
    }
}

/// Copies a file by the system's commands, and syncs the copy.
private enum ShellCopy {
    /// - Parameter bytes: how many, from the beginning; nil for all.
    static func seconds(_ path: String, to copy: String, bytes: Int? = nil) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = bytes == nil ? "cp \"$1\" \"$2\"" : "head -c \"$3\" \"$1\" > \"$2\""
        process.arguments = ["-c", "\(command) && sync \"$2\"", "sh", path, copy, "\(bytes ?? 0)"]
        return try Clock.seconds {
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw PeerError(description: "\(path) was not copied") }
        }.1
    }
}
