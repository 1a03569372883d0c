import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Backups and restores in which the power fails before each call that changes a disk: the store's, the destination's, or the restored store's.
///
/// The same work without a failure tells what each commit has. So every state that comes back is compared with the one that was committed.
@Suite struct BackupCrashTests {
    /// The share of calls whose failure is tried; all of them in the long form.
    private static let step = ProcessInfo.processInfo.environment["HEARTWOOD_SIMULATION_CASES"] == nil ? 9 : 1

    /// A writer with backups, checkpoints and a compaction between its commits.
    private struct Work {
        let store: BackedUpStore
        /// The newest commit that a backup has acknowledged.
        private(set) var acknowledged: UInt64 = 0
        /// The newest commit whose writer got an answer.
        private(set) var committed: UInt64 = 0

        init(_ source: SimulatedFileSystem, _ destination: SimulatedFileSystem, _ durability: Durability) throws {
            store = try BackedUpStore(files: source, destination: destination) { $0.durability = durability }
        }

        mutating func run() async throws {
            for number in 0..<14 {
                try store.commit(number)
                committed = store.sequence
                if number % 4 == 1 { acknowledged = try await store.backUp(bytesMax: 4000).sequence }
                if number == 5 { try store.sample.store.checkpoint() }
                if number == 8 { _ = try store.sample.store.compact(keeping: .commits(2)) }
            }
            acknowledged = try await store.backUp().sequence
        }
    }

    private static func reference(
        _ durability: Durability
    ) async throws -> (states: [UInt64: [UInt64: SampleStore.Person]], source: Int, target: Int) {
        let source = SimulatedFileSystem(), destination = SimulatedFileSystem(seed: 2)
        var work = try Work(source, destination, durability)
        try await work.run()
        return (work.store.states, source.operationCount, destination.operationCount)
    }

    /// Restores a commit from a destination and compares it.
    private static func problem(
        _ destination: SimulatedFileSystem, _ options: StoreOptions, _ point: StoreRestore.Point, least: UInt64,
        _ states: [UInt64: [UInt64: SampleStore.Person]], _ more: (UInt64, [UInt64: SampleStore.Person])? = nil
    ) async throws -> String? {
        let target = MemoryFileSystem()
        var options = options
        options.fileSystem = target
        options.durability = .full
        let archives = DirectoryDestination(path: BackedUpStore.folder, fileSystem: destination)
        let report = try await StoreRestore(from: archives, to: SampleStore.path, options: options).run(at: point)
        guard report.sequence >= least else { return "commit \(report.sequence) came back, and commit \(least) was acknowledged" }
        let opened = try LogStore.open(path: SampleStore.path, options: options)
        let wanted = more.flatMap { $0.0 == report.sequence ? $0.1 : nil } ?? states[report.sequence]
        guard let wanted else { return "commit \(report.sequence) came back, which no writer made" }
        guard let found = SampleStore(reading: opened) else { return wanted.isEmpty ? nil : "the table is gone" }
        return try found.mismatch(opened.snapshot(), wanted).map { "commit \(report.sequence): \($0)" }
    }

    @Test(arguments: [Durability.full, .relaxed])
    func `After the store's machine loses power a backup goes on, and has every acknowledged commit`(durability: Durability) async throws {
        let known = try await Self.reference(durability)
        for call in stride(from: 0, to: known.source, by: Self.step) {
            for seed in 0..<3 as Range<UInt64> {
                let source = SimulatedFileSystem(), destination = SimulatedFileSystem(seed: 2)
                source.fail(at: call)
                var acknowledged: UInt64 = 0
                if var work = try? Work(source, destination, durability) {
                    try? await work.run()
                    acknowledged = work.acknowledged
                }
                let label = "\(durability), call \(call), seed \(seed)"
                let restarted = source.afterPowerLoss(seed: seed)
                do {
                    let problem = try await goOn(restarted, destination, durability, acknowledged, known.states)
                    if let problem { Issue.record("\(label): \(problem)") }
                } catch {
                    Issue.record("\(label): \(error)")
                }
            }
        }
    }

    /// Opens the store after a loss of power, commits something else, backs up and restores.
    private func goOn(
        _ source: SimulatedFileSystem, _ destination: SimulatedFileSystem, _ durability: Durability, _ acknowledged: UInt64,
        _ states: [UInt64: [UInt64: SampleStore.Person]]
    ) async throws -> String? {
        guard acknowledged > 0 else { return nil }
        let sample = try SampleStore(fileSystem: source) {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 4096
            $0.durability = durability
        }
        let newest = sample.store.snapshot().sequence
        guard newest >= acknowledged else { return "the store has commit \(newest), and a backup has commit \(acknowledged)" }
        sample.people = try #require(states[newest])
        try sample.insert(.init(name: "after the loss", age: 1, group: 7))
        let more = (sample.store.snapshot().sequence, sample.people)
        let archives = DirectoryDestination(path: BackedUpStore.folder, fileSystem: destination)
        let report = try await StoreBackup(of: SampleStore.path, to: archives, options: sample.options).run()
        guard report.sequence == more.0 else { return "a backup ends at \(report.sequence), and the store at \(more.0)" }
        for point in [StoreRestore.Point.newest, .commit(acknowledged), .commit(newest)] {
            let least = point == .newest ? more.0 : min(acknowledged, newest)
            if let problem = try await Self.problem(destination, sample.options, point, least: least, states, more) { return problem }
        }
        return nil
    }

    @Test
    func `After the destination loses power no acknowledged commit is lost, and the backup goes on`() async throws {
        let known = try await Self.reference(.full)
        for call in stride(from: 0, to: known.target, by: max(1, Self.step / 3)) {
            for seed in 0..<6 as Range<UInt64> {
                let source = SimulatedFileSystem(), destination = SimulatedFileSystem(seed: 2)
                destination.fail(at: call)
                var work = try Work(source, destination, .full)
                try? await work.run()
                let label = "call \(call), seed \(seed)", after = destination.afterPowerLoss(seed: seed)
                do {
                    if work.acknowledged > 0 {
                        let problem = try await Self.problem(
                            after, work.store.sample.options, .newest, least: work.acknowledged, known.states)
                        if let problem { Issue.record("\(label), before the backup goes on: \(problem)") }
                    }
                    let archives = DirectoryDestination(path: BackedUpStore.folder, fileSystem: after)
                    let report = try await StoreBackup(of: SampleStore.path, to: archives, options: work.store.sample.options).run()
                    #expect(report.sequence == work.store.sequence, "\(label)")
                    let problem = try await Self.problem(
                        after, work.store.sample.options, .newest, least: work.store.sequence, known.states)
                    if let problem { Issue.record("\(label): \(problem)") }
                } catch {
                    Issue.record("\(label): \(error)")
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `After a restore loses power the path has what it had or the restored store, and the next restore succeeds`(replaces: Bool) async throws {
        let destination = SimulatedFileSystem(seed: 2)
        var work = try Work(SimulatedFileSystem(), destination, .full)
        try await work.run()
        let store = work.store, wanted: UInt64 = 6
        // What the path has before: nothing, or the store as of an early commit.
        func disk() async throws -> SimulatedFileSystem {
            let disk = SimulatedFileSystem(seed: 3)
            if replaces { _ = try await restore(store, disk, 3, replaces: false) }
            return disk
        }
        let counted = try await disk(), before = counted.operationCount
        _ = try await restore(store, counted, wanted, replaces: replaces)
        for call in stride(from: before, to: counted.operationCount, by: max(1, Self.step / 3)) {
            for seed in 0..<6 as Range<UInt64> {
                let disk = try await disk(), label = "call \(call), seed \(seed)"
                disk.fail(at: call)
                _ = try? await restore(store, disk, wanted, replaces: replaces)
                let after = disk.afterPowerLoss(seed: seed)
                do {
                    let found = try state(store, after)
                    #expect(found == nil || found == wanted || replaces && found == 3, "\(label): \(String(describing: found))")
                    if found != wanted { _ = try await restore(store, after, wanted, replaces: replaces) }
                    #expect(try state(store, after) == wanted, "\(label)")
                    #expect(after.contents(of: SampleStore.path + RestoreFile.suffix) == nil, "\(label)")
                } catch {
                    Issue.record("\(label): \(error)")
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `After a prune or a merge loses power every state that was to be kept comes back`(merges: Bool) async throws {
        // The work without its end, so that increments stay small.
        func made() async throws -> (work: Work, destination: SimulatedFileSystem) {
            let destination = SimulatedFileSystem(seed: 2)
            var work = try Work(SimulatedFileSystem(), destination, .full)
            try await work.run()
            for number in 14..<18 {
                try work.store.commit(number)
                try await work.store.backUp()
            }
            return (work, destination)
        }
        func change(_ destination: DirectoryDestination) async throws {
            let archives = BackupArchives(at: destination)
            if merges { try await archives.merge() } else { _ = try await archives.prune(keeping: RetentionPolicy()) }
        }
        let (counted, disk) = try await made(), before = disk.operationCount
        let restorable = try await BackupArchives(at: counted.store.destination).list()[0].restorable.flatMap(Array.init)
        try await change(counted.store.destination)
        let kept = try await BackupArchives(at: counted.store.destination).list()[0].restorable.flatMap(Array.init)
        #expect(merges ? kept == restorable : kept.count < restorable.count && kept.last == restorable.last)
        #expect(disk.operationCount > before)
        for call in before..<disk.operationCount {
            for seed in 0..<3 as Range<UInt64> {
                let (work, destination) = try await made(), label = "call \(call), seed \(seed)"
                destination.fail(at: call)
                _ = try? await change(work.store.destination)
                let after = destination.afterPowerLoss(seed: seed)
                let archives = DirectoryDestination(path: BackedUpStore.folder, fileSystem: after)
                let found = try await BackupArchives(at: archives).list()[0].restorable.flatMap(Array.init)
                #expect(Set(found).isSuperset(of: kept), "\(label)")
                for sequence in [kept[0], kept[kept.count / 2], kept[kept.count - 1]] {
                    let problem = try await Self.problem(
                        after, work.store.sample.options, .commit(sequence), least: sequence, work.store.states)
                    if let problem { Issue.record("\(label): \(problem)") }
                }
                try await change(archives)
                #expect(try await BackupArchives(at: archives).verify().isEmpty, "\(label)")
            }
        }
    }

    private func restore(
        _ store: BackedUpStore, _ disk: SimulatedFileSystem, _ sequence: UInt64, replaces: Bool
    ) async throws -> StoreRestore.Report {
        try await StoreRestore(from: store.destination, to: SampleStore.path, options: store.options(disk))
            .run(at: .commit(sequence), replacing: replaces)
    }

    /// The commit as of which the store at the path was restored; nil if there is none. Its content is compared.
    private func state(_ store: BackedUpStore, _ disk: SimulatedFileSystem) throws -> UInt64? {
        guard disk.contents(of: SampleStore.path) != nil else { return nil }
        var options = store.options(disk)
        options.createIfMissing = false
        let opened = try LogStore.open(path: SampleStore.path, options: options)
        let sequence = opened.snapshot().sequence - 1
        #expect(try store.difference(opened, sequence) == nil)
        try opened.close()
        return sequence
    }
}
