import Foundation
import HeartwoodTestSupport

@testable import RecordLog

/// One seeded run of a random workload by one or two handles, beside a model. The power may fail before each call that changes the disk; the
/// resulting state is then opened and checked.
final class SimulationRun: CrashingRun {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    let seed: UInt64
    /// The share of calls, in percent, whose crash is checked.
    let crashShare: UInt64
    private(set) var cases = 0
    /// The failures, one line each, with the seed.
    private(set) var failures: [String] = []

    /// The most sorted runs on disk that an index had.
    private(set) var diskRuns = 0
    private(set) var commitsWhileCompacting = 0
    /// Commits that waited for a sync with others.
    private(set) var groupCommits = 0

    private let disk: SimulatedFileSystem
    private var random: SeededGenerator
    private var history = CommitHistory()
    private var handles: [SampleStore?]
    private let plan: SimulationPlan
    private var kept: [(sample: SampleStore, snapshot: Snapshot, people: CommitHistory.Contents)] = []

    init(seed: UInt64, crashShare: UInt64) {
        self.seed = seed
        self.crashShare = crashShare
        disk = SimulatedFileSystem(seed: seed)
        random = SeededGenerator(seed: seed)
        plan = SimulationPlan(seed: seed, &random)
        handles = Array(repeating: nil, count: plan.durabilities.count)
    }

    func run() {
        disk.beforeEachCall = { [unowned self] kind in crash(at: kind) }
        do {
            for step in 0..<plan.steps where failures.isEmpty {
                arm(step)
                let index = Int.random(in: 0..<handles.count, using: &random)
                do {
                    try self.step(index)
                } catch let error as StoreError where plan.faults != .none && [.io, .noSpace, .poisoned].contains(error.code) {
                    if error.code == .noSpace {
                        if let poison = handles[index]?.store.writer(\.poison) {
                            throw Violation(description: "a full disk ends the handle: \(poison)")
                        }
                        disk.limit(to: nil)
                        disk.limitWrites(to: nil)
                    }
                    // A usable handle is sometimes kept; otherwise a new one is opened.
                    if error.code != .noSpace || Bool.random(using: &random) { handles[index] = nil }
                }
            }
            if failures.isEmpty { try finish() }
        } catch {
            failures.append("seed \(seed), call \(disk.operationCount): \(error)")
        }
        disk.beforeEachCall = nil
    }

    // MARK: Steps

    private func arm(_ step: Int) {
        guard plan.faults != .none, step > 0, Int.random(in: 0..<4, using: &random) == 0 else { return }
        let at = disk.operationCount + Int.random(in: 0..<6, using: &random)
        switch (plan.faults, Int.random(in: 0..<4, using: &random)) {
        case (.none, _): break
        case (.space, 0) where seed % 3 == 0: disk.limitWrites(to: UInt64.random(in: 0..<5_000, using: &random))
        case (.space, 0...1): disk.limit(to: disk.size + UInt64.random(in: 0..<20_000, using: &random))
        case (.space, _): disk.fail(at: at, .once(ENOSPC))
        case (.errors, 0): disk.fail(at: at, .syncLosesPages)
        case (.errors, 1): disk.failRead(after: Int.random(in: 0..<3, using: &random), EIO)
        case (.errors, 2): disk.fail(at: at, .forGood(EIO))
        case (.errors, _): disk.fail(at: at, .once(EIO))
        }
    }

    private func step(_ index: Int) throws {
        let sample = try handle(index)
        let durability = plan.durabilities[index]
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            try sample.store.checkpoint()
            history.raiseFloor()
        case 1:
            try sample.store.sync()
            history.raiseFloor()
        case 2:
            if try compact(sample, index) { history.raiseFloor() }
        case 3...5:
            let snapshot = try sample.store.refresh()
            let found = try sample.contents(snapshot)
            if let problem = try history.objection(snapshot.sequence, found, notBefore: history.announced) ?? sample.mismatch(snapshot, found) {
                throw Violation(description: "a refresh: " + problem)
            }
            if Int.random(in: 0..<4, using: &random) == 0 { kept.append((sample, snapshot, found)) }
        case 6:
            handles[index] = nil
            // A poisoned handle has announced its own commits, and does nothing for others'.
            let isPoisoned = sample.store.writer(\.poison) != nil
            try sample.store.close()
            if !isPoisoned { history.raiseFloor() }
        case 7:
            // Simulates a process that dies.
            handles[index] = nil
        case 8:
            try commit(sample, durability) { transaction, people in
                if plan.isWide, Bool.random(using: &random) { return try sample.addLayout(transaction, &people, &random) }
                try sample.addOrDropLateIndex(transaction)
            }
        case 9...14 where plan.sharesSyncs && durability == .full:
            try commitTogether(sample, index)
        default:
            try commit(sample, durability)
        }
    }

    /// Commits as several threads do that share syncs: each appends, and then each waits.
    private func commitTogether(_ sample: SampleStore, _ index: Int) throws {
        var appended: [(sync: SharedSync, sequence: UInt64)] = [], failure: (any Error)?
        for _ in 0..<Int.random(in: 2...5, using: &random) {
            var isBegun = false, sequence: UInt64 = 0
            let sync = try sample.store.append(author: nil, failure: &failure) { transaction in
                let base = transaction.base, found = try sample.contents(base)
                if appended.isEmpty || !history.isNewestAttempt(base.sequence, found), let problem = history.settle(base.sequence, found) {
                    throw Violation(description: "a writer beside others: " + problem)
                }
                var people = found
                for _ in 0..<plan.rows(isFirst: people.isEmpty, &random) { try change(sample, transaction, &people) }
                sequence = base.sequence + 1
                history.begin(sequence, people)
                isBegun = true
            }
            if isBegun, (failure as? StoreError)?.code == .noSpace { history.withdraw() }
            guard let sync, failure == nil else { break }
            appended.append((sync, sequence))
            groupCommits += 1
            if Int.random(in: 0..<20, using: &random) == 0, let problem = try meddle(sample, index) { throw Violation(description: problem) }
        }
        for (sync, sequence) in appended {
            try sample.store.finish(sync)
            guard sequence > history.newest else { continue }
            history.acknowledge(through: sequence, isAnnounced: !sample.store.writer(\.isSuperblockPending))
            history.raiseFloor()
        }
        if let failure { throw failure }
    }

    /// Something else that happens between the appending of commits and their sync.
    private func meddle(_ sample: SampleStore, _ index: Int) throws -> String? {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try sample.store.checkpoint()
        case 1:
            let known = sample.store.snapshot(), isAhead = sample.store.writer(\.syncing) != nil
            guard try sample.store.refresh() === known || !isAhead else { return "a refresh shows a commit before its sync" }
        default:
            guard let other = handles.indices.first(where: { $0 != index }), let store = handles[other]?.store else { return nil }
            do { try store.write { _ in } } catch let error as StoreError where error.code == .locked { return nil }
            guard sample.store.writer(\.syncing) == nil else { return "another handle writes behind commits that are not published" }
        }
        return nil
    }

    /// Compacts; between the rounds, while no lock is held, the handles commit.
    /// - Returns: false if it was cancelled.
    private func compact(_ sample: SampleStore, _ index: Int) throws -> Bool {
        let window: HistoryWindow = [.none, .none, .commits(2), .commits(100)].randomElement(using: &random) ?? .none
        var commits = Int.random(in: 0...4, using: &random)
        var failure: (any Error)?
        do throws(StoreError) {
            try sample.store.compact(keeping: window) { [unowned self] _ in
                while commits > 0, failure == nil {
                    commits -= 1
                    let other = Int.random(in: 0..<handles.count, using: &random)
                    do {
                        try commit(try handle(other), plan.durabilities[other])
                        commitsWhileCompacting += 1
                    } catch {
                        if other != index { handles[other] = nil }
                        failure = error
                    }
                    // Some in this round, the others in later ones.
                    if Bool.random(using: &random) { break }
                }
                return failure == nil && Int.random(in: 0..<20, using: &random) > 0
            }
            return true
        } catch {
            if let failure { throw failure }
            guard error.code == .cancelled else { throw error }
            return false
        }
    }

    private func handle(_ index: Int) throws -> SampleStore {
        if let known = handles[index] { return known }
        disk.repairForGood()
        if history.newest == 0, history.attempts.isEmpty { history.begin(1, [:]) }
        let sample = try SampleStore(fileSystem: disk, isWide: plan.isWide, hasTerms: plan.hasTerms) { plan.configure(&$0, index) }
        let snapshot = sample.store.snapshot()
        if let problem = history.settle(snapshot.sequence, try sample.contents(snapshot)) { throw Violation(description: "opening: " + problem) }
        handles[index] = sample
        return sample
    }

    private func commit(_ sample: SampleStore, _ durability: Durability) throws {
        try commit(sample, durability) { transaction, people in
            for _ in 0..<plan.rows(isFirst: people.isEmpty, &random) { try change(sample, transaction, &people) }
        }
    }

    private func commit(
        _ sample: SampleStore, _ durability: Durability, _ body: (Transaction, inout CommitHistory.Contents) throws -> Void
    ) throws {
        let checkpoints = sample.store.statistics.checkpoints
        var isBegun = false
        do {
            try sample.store.write { transaction in
                let base = transaction.base
                if let problem = history.settle(base.sequence, try sample.contents(base)) { throw Violation(description: "a writer: " + problem) }
                var people = history.contents
                try body(transaction, &people)
                history.begin(base.sequence + 1, people)
                isBegun = true
            }
        } catch {
            // A full disk refuses a commit, and nothing of it is ever visible.
            if isBegun, (error as? StoreError)?.code == .noSpace { history.withdraw() }
            throw error
        }
        history.acknowledge(isAnnounced: !sample.store.writer(\.isSuperblockPending))
        diskRuns = max(diskRuns, sample.store.snapshot().indexes.compactMap { $0?.disk.count }.max() ?? 0)
        if durability == .full || sample.store.statistics.checkpoints > checkpoints { history.raiseFloor() }
    }

    private func change(_ sample: SampleStore, _ transaction: Transaction, _ people: inout CommitHistory.Contents) throws {
        let known = people.isEmpty ? nil : people.keys.sorted().randomElement(using: &random)
        switch (known, Int.random(in: 0..<10, using: &random)) {
        case (let known?, 0...2):
            guard try transaction.delete(sample.reference(known)) else { throw Violation(description: "row \(known) is not there to delete") }
            people[known] = nil
        case (let known?, 3...5):
            let old = people[known]!, new = plan.person(sample, transaction.catalog, from: old, &random)
            people[known] = new
            if Int.random(in: 0..<4, using: &random) == 0 {
                try sample.put(transaction, known, new)
            } else {
                try sample.revise(transaction, known, from: old, to: new, &random)
            }
        default:
            let row = try transaction.newRow(in: sample.table.id)
            if people[row] != nil { throw Violation(description: "row \(row) was given twice") }
            people[row] = plan.person(sample, transaction.catalog, &random)
            try sample.put(transaction, row, people[row]!)
        }
    }

    /// With the disk repaired, checks that everything acknowledged exists and is sound, and that snapshots are unchanged.
    private func finish() throws {
        disk.heal()
        for index in handles.indices {
            handles[index] = nil
            let sample = try handle(index)
            if let problem = try sample.mismatch(sample.store.snapshot(), history.contents) {
                throw Violation(description: "at the end: " + problem)
            }
            try sample.store.close()
            handles[index] = nil
        }
        history.raiseFloor()
        for (sample, snapshot, people) in kept {
            if let problem = try sample.mismatch(snapshot, people) { throw Violation(description: "an old snapshot: " + problem) }
        }
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: disk) { SampleStore.extractors[$0] }
        guard report.isSound else { throw Violation(description: "not sound: \(report.tail), \(report.problems)") }
        crash(at: .sync)
    }

    // MARK: Crashes

    private func crash(at kind: DiskCall.Kind) {
        guard failures.isEmpty else { return }
        let call = disk.operationCount
        // Not drawn from the run's generator: the share of crashes that are checked does not change a run.
        var chance = SeededGenerator(seed: seed &* 0x1_0000_01B3 &+ UInt64(call))
        guard chance.next() % 100 < crashShare else { return }
        cases += 1
        let check = CrashCheck(history: history, configure: { [plan] in plan.configureAfterCrash(&$0) }, seed: chance.next())
        if let problem = check.run(disk.afterPowerLoss(seed: chance.next())) {
            failures.append("seed \(seed), a crash at call \(call) (\(kind)), \(history.newest) commits, \(history.floor) durable: \(problem)")
        }
    }
}
