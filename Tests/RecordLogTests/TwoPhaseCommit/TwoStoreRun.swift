import Foundation
import HeartwoodTestSupport

@testable import RecordLog

/// One seeded run over two stores, which two processes have open: commits to both and to one, checkpoints, compactions, processes that die, disks
/// that fail. Before each call that changes the disk the power may fail, and readers may look: both stores must be at one commit.
final class TwoStoreRun: CrashingRun {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    let seed: UInt64
    /// The share of calls, in percent, whose crash is checked.
    let crashShare: UInt64
    private(set) var cases = 0
    private(set) var groups = 0
    private(set) var failures: [String] = []

    private let disk: SimulatedFileSystem
    private var random: SeededGenerator
    /// The acknowledged state, or the one that a writer has found since; and the state that may exist instead.
    private var state = SamplePair.State()
    /// The state that no crash can undo. A commit that was found, and not acknowledged to its writer, becomes durable with the next one.
    private var durable = SamplePair.State()
    /// The least state that read-only handles see: a superblock may wait for room on the disk.
    private var announced = SamplePair.State()
    private var attempt: SamplePair.State?
    private var pairs: [SamplePair?] = [nil, nil]
    private let hasFaults: Bool
    private let checkpointAfterBytes: UInt64
    private let zeroAheadBytes: Int
    private let flushSize: Int
    private var name = 0

    init(seed: UInt64, crashShare: UInt64) {
        self.seed = seed
        self.crashShare = crashShare
        disk = SimulatedFileSystem(seed: seed)
        random = SeededGenerator(seed: seed)
        hasFaults = seed % 2 == 1
        checkpointAfterBytes = [300, 3000, 16 << 20].randomElement(using: &random) ?? 300
        zeroAheadBytes = [0, 4096].randomElement(using: &random) ?? 0
        flushSize = [FrameAppender.flushSize, 400].randomElement(using: &random) ?? 0
    }

    func run() {
        do {
            pairs[0] = try open()
            state = try pairs[0]?.contents() ?? state
            (durable, announced) = (state, state)
            disk.beforeEachCall = { [unowned self] kind in look(kind) }
            for _ in 0..<25 where failures.isEmpty {
                if hasFaults, Int.random(in: 0..<4, using: &random) == 0 { arm() }
                let process = Int.random(in: 0..<2, using: &random)
                do {
                    try step(process)
                } catch let error as StoreError where hasFaults && [.io, .noSpace, .poisoned, .undecided].contains(error.code) {
                    // A failing disk may have come first, or during the rollback of a commit without room.
                    let poisons = pairs[process]?.stores.lazy.compactMap { $0.writer(\.poison) }
                    if error.code == .noSpace, let poison = poisons?.first(where: { $0.systemErrno != EIO }) {
                        throw Violation(description: "a full disk ends a handle: \(poison)")
                    }
                    if error.code != .noSpace || Bool.random(using: &random) { pairs[process] = nil }
                }
            }
            disk.heal()
            disk.beforeEachCall = nil
            pairs = [nil, nil]
            if failures.isEmpty { try finish() }
        } catch {
            failures.append("seed \(seed), call \(disk.operationCount): \(error)")
        }
        disk.beforeEachCall = nil
    }

    private func arm() {
        let at = disk.operationCount + Int.random(in: 0..<12, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: disk.fail(at: at, .once(ENOSPC))
        case 4: disk.limitWrites(to: UInt64.random(in: 0..<6_000, using: &random))
        case 1: disk.fail(at: at, .syncLosesPages)
        case 2: disk.failRead(after: Int.random(in: 0..<3, using: &random), EIO)
        default: disk.fail(at: at, .once(EIO))
        }
    }

    private func open(_ disk: SimulatedFileSystem? = nil) throws -> SamplePair {
        try SamplePair(disk ?? self.disk, isWide: seed % 3 != 1) { [seed, checkpointAfterBytes, zeroAheadBytes, flushSize] options in
            options.checkpointAfterBytes = checkpointAfterBytes
            options.zeroAheadBytes = zeroAheadBytes
            options.flushSize = flushSize
            // Index entries are spilled in some runs.
            options.indexMemory = seed % 5 == 2 ? 64 : 1 << 20
            options.lastRoundBytes = 100
        }
    }

    // MARK: Steps

    private func step(_ process: Int) throws {
        let pair = try handles(process)
        switch Int.random(in: 0..<16, using: &random) {
        case 0: try (Bool.random(using: &random) ? pair.first : pair.second).store.checkpoint()
        case 1:
            let window: HistoryWindow = [.none, .none, .commits(2), .commits(100)].randomElement(using: &random) ?? .none
            _ = try (Bool.random(using: &random) ? pair.first : pair.second).store.compact(keeping: window)
        case 2:
            pairs[process] = nil
            for store in pair.stores { try store.close() }
        case 3: pairs[process] = nil
        case 4...5:
            // A reader that cannot read the coordinator's file may show the earlier state.
            disk.heal()
            for store in Bool.random(using: &random) ? pair.stores : pair.stores.reversed() { _ = try store.refresh() }
            let found = try pair.contents()
            try demand(announcing(found), "a refresh")
            if let problem = try pair.mismatch(found) { throw Violation(description: "a refresh: " + problem) }
        case 6...8: try commitToOne(pair, isFirst: Bool.random(using: &random))
        default: try commitToBoth(pair)
        }
    }

    private func handles(_ process: Int) throws -> SamplePair {
        if let known = pairs[process] { return known }
        var made = try open()
        while made.stores.contains(where: { $0.writer(\.mustRewrite) }) {
            // The state is readable, and not durable before there is room.
            try demand(made.state, "opening on a full disk")
            disk.limitWrites(to: nil)
            made = try open()
        }
        // Both are open for writing, which settles every commit.
        try demand(made.state, "opening")
        settle(made.state)
        durable = state
        pairs[process] = made
        return made
    }

    private func demand(_ found: SamplePair.State, _ what: String, afterCrash: Bool = false) throws {
        guard found != state, found != attempt, !afterCrash || found != durable else { return }
        throw Violation(description: "\(what): \(found.first.count) and \(found.second.count) rows; \(state.first.count) and "
            + "\(state.second.count) were acknowledged, \(attempt.map { "\($0.first.count) and \($0.second.count)" } ?? "nothing") tried")
    }

    /// The state that a reader saw, with commits that were not announced to it.
    private func announcing(_ found: SamplePair.State) -> SamplePair.State {
        SamplePair.State(
            first: found.first == announced.first ? state.first : found.first,
            second: found.second == announced.second ? state.second : found.second)
    }

    private func settle(_ found: SamplePair.State) {
        if found == attempt { state = found }
        attempt = nil
    }

    private func commitToBoth(_ pair: SamplePair) throws {
        let stores = Bool.random(using: &random) ? pair.stores : pair.stores.reversed()
        _ = try attempting {
            try LogStore.write(to: stores) { transactions in
                let transactions = stores[0] === pair.first.store ? transactions : transactions.reversed()
                let found = SamplePair.State(
                    first: try pair.first.contents(transactions[0].base), second: try pair.second.contents(transactions[1].base))
                try demand(found, "a writer")
                settle(found)
                var next = state
                next.first = try change(pair.first, transactions[0], next.first)
                next.second = try change(pair.second, transactions[1], next.second)
                attempt = next
            }
        }
        acknowledge(pair)
        groups += 1
    }

    private func commitToOne(_ pair: SamplePair, isFirst: Bool) throws {
        let sample = isFirst ? pair.first : pair.second
        let tried = try attempting {
            try sample.store.write { transaction in
                let found = try sample.contents(transaction.base)
                // Each attempt changes the stores that it touches, so one store is evidence for both.
                if let attempt, found == (isFirst ? attempt.first : attempt.second) {
                    if found != (isFirst ? state.first : state.second) { settle(attempt) }
                } else if found == (isFirst ? state.first : state.second) {
                    attempt = nil
                } else {
                    throw Violation(description: "a writer of one store finds \(found.count) rows")
                }
                // The other store of an attempt that did not touch this one is unknown: it is read first.
                guard attempt == nil else { return }
                var next = state
                if isFirst {
                    next.first = try change(sample, transaction, next.first)
                } else {
                    next.second = try change(sample, transaction, next.second)
                }
                attempt = next
            }
        }
        if tried { acknowledge(pair, isFirst) }
    }

    /// Runs `body`. If a full disk refuses its commit, nothing of the commit is ever visible.
    /// - Returns: whether it attempted a commit.
    private func attempting(_ body: () throws -> Void) throws -> Bool {
        let before = attempt
        do {
            try body()
        } catch {
            if attempt != before, (error as? StoreError)?.code == .noSpace { attempt = nil }
            throw error
        }
        return attempt != before && attempt != nil
    }

    /// - Parameter isFirst: the store that was committed to; nil for both. The other store's superblock may wait in another process.
    private func acknowledge(_ pair: SamplePair, _ isFirst: Bool? = nil) {
        if let attempt { state = attempt }
        attempt = nil
        durable = state
        if isFirst != false, !pair.first.store.writer(\.isSuperblockPending) { announced.first = state.first }
        if isFirst != true, !pair.second.store.writer(\.isSuperblockPending) { announced.second = state.second }
    }

    /// Adds rows, and changes or deletes others.
    private func change(_ sample: SampleStore, _ transaction: Transaction, _ people: SamplePair.Contents) throws -> SamplePair.Contents {
        var people = people
        if Int.random(in: 0..<6, using: &random) == 0 { try sample.addOrDropLateIndex(transaction) }
        let known = people.keys.sorted().randomElement(using: &random)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            name += 1
            var person = sample.draw(transaction.catalog, .short, hasPictures: false, &random)
            // Values that no other attempt has.
            (person.name, person.age) = ("p\(name)", Int64(name))
            let row = try transaction.newRow(in: sample.table.id)
            try sample.put(transaction, row, person)
            people[row] = person
        }
        guard let known, let old = people[known] else { return people }
        if Bool.random(using: &random) {
            _ = try transaction.delete(sample.reference(known))
            people[known] = nil
        } else {
            people[known] = sample.draw(transaction.catalog, from: old, .short, hasPictures: false, &random)
            try sample.revise(transaction, known, from: old, to: people[known] ?? old, &random)
        }
        return people
    }

    private func finish() throws {
        let pair = try open()
        try demand(pair.state, "at the end")
        settle(pair.state)
        if let problem = try pair.mismatch { throw Violation(description: "at the end: " + problem) }
        for store in pair.stores { try store.close() }
        for path in SamplePair.paths {
            let report = try StoreVerification.verify(path: path, fileSystem: disk)
            guard report.isSound else { throw Violation(description: "\(path) is not sound: \(report.tail), \(report.problems)") }
        }
    }

    // MARK: Readers and crashes

    private func look(_ kind: DiskCall.Kind) {
        guard failures.isEmpty else { return }
        let call = disk.operationCount
        // Not drawn from the run's generator: the share of calls that are checked does not change a run.
        var chance = SeededGenerator(seed: seed &* 0x1_0000_01B3 &+ UInt64(call))
        guard chance.next() % 100 < crashShare else { return }
        cases += 1
        if let problem = crash(disk.afterPowerLoss(seed: chance.next()), &chance) {
            failures.append("seed \(seed), a crash at call \(call) (\(kind)): \(problem)")
        }
    }

    private func crash(_ left: SimulatedFileSystem, _ chance: inout SeededGenerator) -> String? {
        var left = left
        do {
            let seen = try SamplePair.read(left, backwards: Bool.random(using: &chance))
            try demand(seen, "a reader", afterCrash: true)
            if Bool.random(using: &chance) {
                left.fail(at: Int.random(in: 0..<9, using: &chance))
                if let pair = try? open(left) { try? pair.add("x") }
                left = left.afterPowerLoss(seed: chance.next())
                let again = try SamplePair.read(left, backwards: Bool.random(using: &chance))
                // A commit may have been made before the power failed again, and then to both.
                guard again == seen || again.first.count == seen.first.count + 1 && again.second.count == seen.second.count + 1 else {
                    return "settled otherwise than it was read"
                }
            }
            let pair = try open(left), before = pair.state
            if before.first.count == seen.first.count { try demand(before, "a writer after the crash", afterCrash: true) }
            try pair.add("after")
            if let problem = try pair.mismatch { return problem }
            for store in pair.stores { try store.close() }
            for path in SamplePair.paths {
                let report = try StoreVerification.verify(path: path, fileSystem: left)
                guard report.isSound else { return "\(path) is not sound: \(report.tail), \(report.problems)" }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
