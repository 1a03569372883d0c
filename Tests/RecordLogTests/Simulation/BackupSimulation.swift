import HeartwoodTestSupport
import Synchronization

@testable import RecordLog

/// One seeded run of a writer with checkpoints and compactions, a backup that follows it, prunes, merges, restores and a replica, on three disks:
/// the store's, the destination's and the replica's. In many steps one of them loses power at one of the next calls, and the run goes on with
/// what that disk has then.
final class BackupSimulation {
    private struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    typealias Contents = CommitHistory.Contents

    /// A destination whose disk may be exchanged for the one behind a loss of power.
    private final class Destination: BackupDestination {
        private let current = Mutex(DirectoryDestination(path: "backups", fileSystem: SimulatedFileSystem(seed: 2)))

        var description: String { "backups" }
        private var directory: DirectoryDestination { current.withLock { $0 } }

        func move(to disk: SimulatedFileSystem) { current.withLock { $0 = DirectoryDestination(path: "backups", fileSystem: disk) } }

        func list(prefix: String) async throws -> [BackupObject] { try await directory.list(prefix: prefix) }
        func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws { try await directory.put(name, size: size, upload) }
        func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8] { try await directory.get(name, range) }
        func delete(_ name: String) async throws { try await directory.delete(name) }
    }

    /// The commits of a line, by number, and the newest that a backup has acknowledged.
    private struct Line {
        var states: [UInt64: Contents] = [0: [:]]
        var acknowledged: UInt64 = 0
    }

    private enum Machine: CaseIterable {
        case source, destination, replica
    }

    let seed: UInt64
    private(set) var losses = 0
    private(set) var restores = 0
    private(set) var failure: String?

    private var random: SeededGenerator
    private var disks: [Machine: SimulatedFileSystem] = [:]
    private let destination = Destination()
    private let durability: Durability
    private var sample: SampleStore?
    private var follower: BackupRun?
    private var lines: [StoredUUID: Line] = [:]
    private var lineage: StoredUUID?
    private var newest: UInt64 = 0
    /// The newest commit that the store has acknowledged as durable.
    private var floor: UInt64 = 0
    private var attempt: (sequence: UInt64, contents: Contents)?
    /// The commit of a restore over the store that may have succeeded.
    private var restored: UInt64?
    private var replicaLine: StoredUUID?
    private var step = 0
    /// Whether archives were deleted since the last backup.
    private var hasLostArchives = false

    private static let replicaPath = "replica.heartwood"

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        durability = seed % 2 == 0 ? .full : .relaxed
        for (number, machine) in Machine.allCases.enumerated() { disks[machine] = SimulatedFileSystem(seed: seed &* 3 &+ UInt64(number)) }
        destination.move(to: disk(.destination))
    }

    private func disk(_ machine: Machine) -> SimulatedFileSystem { disks[machine]! }

    func run() async {
        do {
            for number in 0..<60 {
                step = number
                arm()
                do {
                    try await takeStep()
                } catch let violation as Violation {
                    throw violation
                } catch {
                    guard Machine.allCases.contains(where: { disk($0).hasCrashed }) else { throw error }
                }
                recover()
            }
            try await finish()
        } catch {
            failure = "seed \(seed), step \(step): \(error)"
        }
    }

    // MARK: Losses of power

    private func arm() {
        guard Int.random(in: 0..<3, using: &random) == 0, let machine = Machine.allCases.randomElement(using: &random) else { return }
        disk(machine).fail(at: disk(machine).operationCount + Int.random(in: 0..<25, using: &random))
    }

    private func recover() {
        for machine in Machine.allCases {
            guard disk(machine).hasCrashed else {
                disk(machine).heal()
                continue
            }
            losses += 1
            disks[machine] = disk(machine).afterPowerLoss(seed: random.next())
            switch machine {
            case .source: (sample, follower) = (nil, nil)
            case .destination: destination.move(to: disk(.destination))
            case .replica: break
            }
        }
    }

    // MARK: Steps

    private func takeStep() async throws {
        if hasLostArchives { return try await backUp() }
        if seed % 4 == 2, step % 12 == 7 { return try await loseArchives() }
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            try opened().store.checkpoint()
            floor = newest
        case 1:
            let window: HistoryWindow = Bool.random(using: &random) ? .none : .commits(3)
            _ = try opened().store.compact(keeping: window)
            floor = newest
        // Processes that die.
        case 2: sample = nil
        case 3: follower = nil
        case 4: try await prune()
        case 5: _ = try await archives.merge(bytesMax: Bool.random(using: &random) ? 64 << 20 : 6000)
        case 6...7: try await check(.newest)
        case 8...9: try await checkAnyCommit()
        case 10: try await restoreOver()
        case 11...13: try await updateReplica()
        case 14...17: try await backUp()
        default: try commit()
        }
    }

    private func configure(_ options: inout StoreOptions) {
        options.durability = durability
        options.segmentShift = 16
        options.zeroAheadBytes = 4096
        options.lockTimeout = .zero
    }

    private func options(_ files: any FileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = files
        options.checkpointsInBackground = false
        options.compaction = nil
        configure(&options)
        return options
    }

    private var archives: BackupArchives { BackupArchives(at: destination, options: options(disk(.destination))) }

    private func commit() throws {
        let sample = try opened()
        let number = Int64.random(in: 0..<1000, using: &random)
        var people = sample.people
        try sample.store.write { transaction in
            let known = people.keys.sorted().randomElement(using: &random)
            if let known, Int.random(in: 0..<4, using: &random) == 0 {
                _ = try transaction.delete(sample.reference(known))
                people[known] = nil
            } else {
                let row = try known.flatMap { Bool.random(using: &random) ? $0 : nil } ?? transaction.newRow(in: sample.table.id)
                let picture = number % 5 == 0 ? SampleStore.Picture(fill: UInt8(number & 255), count: 9000) : nil
                let person = SampleStore.Person(name: "name \(number)", age: number, group: UInt64(number % 3), picture: picture)
                try sample.put(transaction, row, person)
                people[row] = person
            }
            attempt = (transaction.base.sequence + 1, people)
        }
        sample.people = people
        settle()
        if durability == .full { floor = newest }
    }

    /// The attempt succeeded.
    private func settle() {
        guard let attempt, let lineage else { return }
        newest = attempt.sequence
        lines[lineage, default: Line()].states[newest] = attempt.contents
        self.attempt = nil
    }

    /// The store, opened and compared with what it may have.
    private func opened() throws -> SampleStore {
        if let sample { return sample }
        let made = try SampleStore(fileSystem: disk(.source), configure), snapshot = made.store.snapshot()
        let found = try made.contents(snapshot), line = try Lineage(of: snapshot)
        made.people = found
        if lineage != line.id { try adopt(line, snapshot.sequence, found) }
        if let attempt, attempt.sequence == snapshot.sequence, attempt.contents == found { settle() }
        attempt = nil
        let known = lines[line.id, default: Line()]
        guard snapshot.sequence >= max(floor, known.acknowledged) else {
            throw Violation(description: "the store has commit \(snapshot.sequence); \(floor) is durable, \(known.acknowledged) is backed up")
        }
        // The first commit makes the table.
        if snapshot.sequence == 1, known.states[1] == nil { lines[line.id, default: known].states[1] = [:] }
        guard lines[line.id]?.states[snapshot.sequence] == found else {
            throw Violation(description: "the store has commit \(snapshot.sequence) with other rows than it was made with")
        }
        newest = snapshot.sequence
        let states = lines[line.id]?.states ?? [:]
        lines[line.id]?.states = states.filter { $0.key <= snapshot.sequence }
        floor = max(floor, durability == .full ? newest : 0)
        sample = made
        return made
    }

    /// The store has another line than it had: its file was lost before anything in it was durable, or it was restored.
    private func adopt(_ line: Lineage, _ sequence: UInt64, _ found: Contents) throws {
        if let fork = line.fork {
            // The commit may be older than the line from which it was restored: the parent is then the line that made it.
            guard let restored, fork.sequence == restored, let states = lines[fork.parent]?.states, sequence == fork.sequence + 1
            else { throw Violation(description: "the store has lineage \(line), which no restore began") }
            lines[line.id] = Line(states: states.filter { $0.key <= fork.sequence }.merging([sequence: found]) { old, _ in old })
            guard states[fork.sequence] == found else { throw Violation(description: "a restore over the store has other rows") }
            floor = sequence
        } else {
            guard lineage == nil || floor == 0 && lines[lineage ?? line.id]?.acknowledged == 0 else {
                throw Violation(description: "the store is another one; commit \(floor) was durable")
            }
            lines[line.id] = Line()
        }
        (lineage, restored, attempt) = (line.id, nil, nil)
    }

    // MARK: Backups

    private func backUp() async throws {
        let sample = try opened()
        let run = follower ?? BackupRun(of: SampleStore.path, to: destination, sample.options)
        follower = run
        var report = StoreBackup.Report()
        try await run.pass(bytesMax: Bool.random(using: &random) ? 64 << 20 : 2000, &report)
        guard report.sequence == newest, report.lineage == lineage, let lineage else {
            throw Violation(description: "a backup ends at \(report.sequence), and the store at \(newest)")
        }
        lines[lineage]?.acknowledged = newest
        floor = max(floor, newest)
        hasLostArchives = false
        let catalog = try await BackupCatalog.list(destination, storeID: sample.store.storeID)
        guard catalog.lines[lineage]?.acknowledged == newest else {
            throw Violation(description: "the head is \(catalog.lines[lineage]?.acknowledged ?? 0), and \(newest) was acknowledged")
        }
        try await checkStanding(isUpToDate: true)
    }

    /// What a status says of the store's backup. The store's file may be as a loss of power has left it.
    private func checkStanding(isUpToDate: Bool) async throws {
        let standing = try await StoreBackup(of: SampleStore.path, to: destination, options: options(disk(.source))).standing()
        guard (standing.sequence >= standing.storeSequence && standing.damaged.isEmpty) == isUpToDate, isUpToDate || !standing.isSound else {
            throw Violation(description: "a status says \(standing), and the newest commit is \(newest)")
        }
    }

    /// Deletes the archives that have the newest commit, as a user may. Until the next backup no restore may pass for one of the newest state.
    private func loseArchives() async throws {
        // An interrupted restore may have put the store on another line.
        if restored != nil { _ = try opened() }
        guard let lineage, let line = lines[lineage], line.acknowledged > 0,
            let listed = try await archives.list().first(where: { $0.lineage == lineage })
        else { return }
        hasLostArchives = true
        // One that follows looks at the destination when it has something to put.
        follower = nil
        for archive in listed.archives where archive.commits.upperBound >= line.acknowledged { try await destination.delete(archive.name) }
        var restore = StoreRestore(from: destination, to: SampleStore.path, options: options(MemoryFileSystem()))
        restore.lineage = lineage
        do {
            let report = try await restore.run()
            throw Violation(description: "commit \(report.sequence) came back as the newest one, and the archives of \(line.acknowledged) are gone")
        } catch let error as BackupError where error.code == .notCovered {
            guard error.available ?? 0 < line.acknowledged else { throw Violation(description: "what is gone is said to be there: \(error)") }
        }
        try await checkStanding(isUpToDate: false)
        try await backUp()
        try await check(.newest)
    }

    private func prune() async throws {
        var policy = RetentionPolicy()
        policy.last = Int.random(in: 1...3, using: &random)
        let report = try await archives.prune(keeping: policy)
        guard report.broken.isEmpty else { throw Violation(description: "the newest commit of \(report.broken) cannot be restored") }
    }

    /// Restores a commit elsewhere and compares it.
    private func check(_ point: StoreRestore.Point) async throws {
        guard let lineage, let line = lines[lineage], line.acknowledged > 0 else { return }
        let files = MemoryFileSystem()
        var restore = StoreRestore(from: destination, to: SampleStore.path, options: options(files))
        restore.lineage = lineage
        let report = try await restore.run(at: point)
        restores += 1
        guard point != .newest || report.sequence >= line.acknowledged else {
            throw Violation(description: "commit \(report.sequence) came back, and \(line.acknowledged) was acknowledged")
        }
        try compare(files, SampleStore.path, report.sequence, line, "a restore")
    }

    private func compare(_ files: any FileSystem, _ path: String, _ sequence: UInt64, _ line: Line, _ label: String) throws {
        var reading = options(files)
        reading.isReadOnly = true
        let store = try LogStore.open(path: path, options: reading)
        guard let wanted = line.states[sequence] else { throw Violation(description: "\(label): commit \(sequence), which no writer made") }
        guard let found = SampleStore(reading: store) else {
            if wanted.isEmpty { return }
            throw Violation(description: "\(label): the table is gone")
        }
        if let problem = try found.mismatch(store.snapshot(), wanted) {
            throw Violation(description: "\(label), commit \(sequence): \(problem)")
        }
    }

    private func checkAnyCommit() async throws {
        guard let lineage, let line = try await archives.list().first(where: { $0.lineage == lineage }) else { return }
        guard let sequence = line.restorable.flatMap(Array.init).randomElement(using: &random) else { return }
        try await check(.commit(sequence))
    }

    /// Restores a commit in place of the store, which begins a new line.
    private func restoreOver() async throws {
        // What an interrupted restore has left is known before the next one begins.
        _ = try opened()
        guard let lineage, let line = try await archives.list().first(where: { $0.lineage == lineage }), lines[lineage]?.acknowledged ?? 0 > 0,
            let sequence = line.restorable.flatMap(Array.init).randomElement(using: &random)
        else { return }
        (sample, restored) = (nil, sequence)
        var restore = StoreRestore(from: destination, to: SampleStore.path, options: options(disk(.source)))
        restore.lineage = lineage
        // From here on the older store may be gone.
        try await restore.run(at: .commit(sequence), replacing: true)
        restores += 1
        _ = try opened()
    }

    private func updateReplica() async throws {
        guard let lineage, lines[lineage]?.acknowledged ?? 0 > 0 else { return }
        if replicaLine != lineage {
            // Another line: a replica follows one only.
            disks[.replica] = SimulatedFileSystem(seed: random.next())
            replicaLine = lineage
        }
        var replica = StoreReplica(from: destination, at: Self.replicaPath, options: options(disk(.replica)))
        replica.lineage = lineage
        do {
            let status = try await replica.update()
            guard let line = lines[lineage], status.sequence >= line.acknowledged else {
                throw Violation(description: "the replica is at \(status.sequence), and \(lines[lineage]?.acknowledged ?? 0) was acknowledged")
            }
        } catch {
            if error is Violation { throw error }
            guard disk(.replica).hasCrashed || disk(.destination).hasCrashed else { throw error }
            recover()
        }
        guard let line = lines[lineage], disk(.replica).contents(of: Self.replicaPath) != nil else { return }
        var reading = options(disk(.replica))
        reading.isReadOnly = true
        let sequence = try LogStore.open(path: Self.replicaPath, options: reading).snapshot().sequence
        try compare(disk(.replica), Self.replicaPath, sequence, line, "the replica")
    }

    private func finish() async throws {
        step += 1
        for machine in Machine.allCases { disk(machine).heal() }
        hasLostArchives = false
        _ = try opened()
        try await backUp()
        try await updateReplica()
        try await check(.newest)
        let problems = try await archives.verify()
        guard problems.isEmpty else { throw Violation(description: "damaged: \(problems)") }
        guard let line = try await archives.list().first(where: { $0.lineage == lineage }) else { throw Violation(description: "no line") }
        for sequence in line.restorable.joined() { try await check(.commit(sequence)) }
    }
}
