import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Loads put their checkpoints off: the size of their files, their memory, their end, and crashes.
@Suite struct LoadTests {
    private static let unit: UInt64 = 32 << 10

    /// A store whose commits are a load from 1 KiB on.
    private static func store(
        _ files: any FileSystem = MemoryFileSystem(), _ configure: (inout StoreOptions) -> Void = { _ in }
    ) throws -> SampleStore {
        try SampleStore(fileSystem: files) {
            $0.checkpointAfterBytes = unit
            $0.largeCommitBytes = 1024
            configure(&$0)
        }
    }

    /// Commits rows of about 180 bytes of log.
    private static func commit(_ sample: SampleStore, rows: Int) throws {
        var people = sample.people
        try sample.store.write { transaction in
            for _ in 0..<rows {
                let row = try transaction.newRow(in: sample.table.id)
                let name = "\(row &* 7919 % 1_000_003) \(String(repeating: "x", count: 120))"
                people[row] = .init(name: name, age: Int64(row % 90), group: row % 40 + 1)
                try sample.put(transaction, row, people[row]!)
            }
        }
        sample.people = people
    }

    private static func load(_ sample: SampleStore, bytes: UInt64, piece: Int = 40) throws {
        let end = sample.store.log.end + bytes
        while sample.store.log.end < end { try commit(sample, rows: piece) }
    }

    private static func inMemory(_ sample: SampleStore) -> Int {
        sample.store.snapshot().indexes.reduce(0) { sum, runs in
            guard let runs else { return sum }
            return (runs.fresh + runs.flushing).reduce(sum) { $0 + ($1.isInMemory ? $1.byteCount : 0) }
        }
    }

    /// A load's checkpoints, one every half of `checkpointAfterBytes`, once made its file 1.6 times as large as a compacted one.
    @Test(arguments: [1, 7, 9, 15, 20, 30] as [UInt64], [false, true])
    func `A load ends with a file of at most 1.15 times its compacted size`(units: UInt64, isInBackground: Bool) throws {
        let sample = try Self.store { $0.checkpointsInBackground = isInBackground }
        try Self.load(sample, bytes: units * Self.unit)
        sample.store.finishCheckpoint()
        // One is due each time that eight times `checkpointAfterBytes` are behind the newest one.
        #expect(sample.store.statistics.checkpoints <= units / 8)
        try Self.checkSize(sample, atMost: 1.15, readsRows: units < 10)
    }

    /// A commit of four times `checkpointAfterBytes`, as a batch of a million rows is.
    @Test(arguments: 1...5, [false, true])
    func `A load in few huge commits ends with a file of at most 1.15 times its compacted size, in more of them 1.4`(
        commits: Int, isInBackground: Bool
    ) throws {
        let sample = try Self.store { $0.checkpointsInBackground = isInBackground }
        for _ in 0..<commits { try Self.commit(sample, rows: 900) }
        #expect(sample.store.log.end > UInt64(commits * 4) * Self.unit)
        try Self.checkSize(sample, atMost: commits < 4 ? 1.15 : 1.4, readsRows: commits < 3)
    }

    private static func checkSize(_ sample: SampleStore, atMost factor: Double, readsRows: Bool) throws {
        try sample.store.close()
        let size = try sample.fileSystem.open(SampleStore.path, .readOnly).size()
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
        try sample.reopen()
        // A closing writes no checkpoint for less.
        #expect(sample.store.statistics.bytesReplayed <= 64 << 10)
        if readsRows { try sample.check(sample.store.snapshot(), sample.people) }
        let runs = sample.store.snapshot().indexes.compactMap { $0?.disk.count }
        #expect(runs.allSatisfy { $0 <= 4 }, "\(runs)")
        _ = try sample.store.compact()
        let least = try sample.fileSystem.open(SampleStore.path, .readOnly).size()
        #expect(Double(size) <= factor * Double(least), "\(size) bytes, \(least) after a compaction")
    }

    @Test
    func `A load in one commit leaves no dead byte either`() throws {
        let sample = try Self.store { $0.indexMemory = 10_000 }
        try Self.commit(sample, rows: 4000)
        try sample.store.close()
        let inspection = try StoreInspection.inspect(path: SampleStore.path, fileSystem: sample.fileSystem)
        #expect(inspection.checkpoints == 1 && inspection.deadBytes < inspection.logBytes / 10, "\(inspection.deadBytes)")
    }

    @Test(arguments: [false, true])
    func `A load's index entries go to scratch files, of which an index has few runs`(isInBackground: Bool) throws {
        let sample = try Self.store {
            $0.checkpointsInBackground = isInBackground
            $0.checkpointAfterBytes = 100_000
        }
        var most = 0, spilled = 0
        while sample.store.log.end < 700_000 {
            try Self.commit(sample, rows: 30)
            most = max(most, Self.inMemory(sample))
            let runs = sample.store.snapshot().indexes.compactMap { $0.map { $0.fresh + $0.flushing } }
            spilled = max(spilled, runs.map { $0.count(where: { !$0.isInMemory }) }.max() ?? 0)
        }
        #expect(sample.store.statistics.checkpoints == 0)
        // The names are in two of the indexes, and so their entries take nearly twice the log's bytes.
        #expect(most < 400_000, "\(most) bytes of entries in memory")
        #expect(spilled > 0 && spilled <= 6, "\(spilled) runs")
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `Small commits after a load end it`() throws {
        let sample = try Self.store { $0.largeCommitBytes = 2000 }
        try Self.load(sample, bytes: 3 * Self.unit)
        #expect(sample.store.statistics.checkpoints == 0)
        for _ in 0..<20 { try Self.commit(sample, rows: 1) }
        #expect(sample.store.statistics.checkpoints == 1 && sample.store.writer(\.bytesBehind) < Self.unit / 2)
        // A steady writer has checkpoints as ever.
        for _ in 0..<600 { try Self.commit(sample, rows: 1) }
        #expect(sample.store.statistics.checkpoints >= 3)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A pause ends a load`() throws {
        let sample = try Self.store {
            $0.checkpointsInBackground = true
            $0.loadPause = .milliseconds(300)
        }
        try Self.load(sample, bytes: 3 * Self.unit)
        let deadline = ContinuousClock.now + .seconds(60)
        // A background checkpoint tells nobody of its end.
        while sample.store.statistics.checkpoints == 0, ContinuousClock.now < deadline { usleep(2000) }
        sample.store.finishCheckpoint()
        #expect(sample.store.statistics.checkpoints == 1 && sample.store.writer(\.bytesBehind) == 0)
        try Self.load(sample, bytes: 3 * Self.unit)
        // The next load is watched again.
        while sample.store.statistics.checkpoints == 1, ContinuousClock.now < deadline { usleep(2000) }
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `The thread that waits for a load's end does not keep the store`() throws {
        weak var store: LogStore?
        do {
            let sample = try Self.store { $0.checkpointsInBackground = true; $0.loadPause = .seconds(600) }
            try Self.load(sample, bytes: 3 * Self.unit)
            sample.store.finishCheckpoint()
            #expect(sample.store.writer(\.load.isWatched))
            store = sample.store
        }
        let deadline = ContinuousClock.now + .seconds(60)
        // The thread of the last spill may be about to end, and tells nobody.
        while store != nil, ContinuousClock.now < deadline { usleep(2000) }
        #expect(store == nil)
    }

    @Test
    func `The end of the process ends a load, except a write that goes on`() throws {
        let sample = try Self.store { $0.checkpointsInBackground = true }
        try Self.load(sample, bytes: 3 * Self.unit)
        try sample.store.write { transaction in
            sample.store.checkpointAtExit()
            try transaction.setSystemValue(9, [1])
        }
        #expect(sample.store.statistics.checkpoints == 0)
        sample.store.checkpointAtExit()
        #expect(sample.store.statistics.checkpoints == 1 && sample.store.writer(\.bytesBehind) == 0)
        // Nothing is to be done any more, nor after the store was closed.
        sample.store.checkpointAtExit()
        try sample.store.close()
        sample.store.checkpointAtExit()
        #expect(sample.store.statistics.checkpoints == 1)
        try sample.reopen()
        #expect(sample.store.statistics.bytesReplayed == 0)
    }

    @Test(arguments: [false, true])
    func `After a crash in a load an opening replays a bounded part of the log, and writes the checkpoint`(isInBackground: Bool) throws {
        for units in [1, 6, 12] as [UInt64] {
            let sample = try Self.store { $0.checkpointsInBackground = isInBackground }
            try Self.load(sample, bytes: units * Self.unit)
            sample.store.finishCheckpoint()
            try sample.reopenAfterCrash()
            let replayed = sample.store.statistics.bytesReplayed
            // The last of the twelve may be those of the checkpoint.
            #expect((replayed > 0 || units == 12) && replayed <= 9 * Self.unit + 40 * 400, "\(replayed)")
            sample.store.finishCheckpoint()
            let isLong = replayed > Self.unit, isDue = isLong || isInBackground && replayed > Self.unit / 2
            #expect(sample.store.statistics.checkpoints == (isDue ? 1 : 0))
            try sample.check(sample.store.snapshot(), sample.people)
            try Self.commit(sample, rows: 1)
            sample.store.finishCheckpoint()
            #expect(!isDue || sample.store.statistics.checkpoints == 1)
            try sample.reopenAfterCrash()
            try sample.check(sample.store.snapshot(), sample.people)
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `Snapshots of a load keep their content`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore {
            $0.checkpointAfterBytes = seed % 2 == 0 ? 3000 : 12_000
            $0.largeCommitBytes = seed % 3 == 0 ? 2000 : 0
            $0.checkpointsInBackground = seed > 3
            $0.indexMemory = seed % 3 == 1 ? 500 : 1 << 20
        }
        var kept: [(Snapshot, [UInt64: SampleStore.Person])] = []
        for number in 0..<90 {
            try RandomWorkloadTests.commit(sample, &random)
            if number % 9 == 0 { kept.append((sample.store.snapshot(), sample.people)) }
            switch Int.random(in: 0..<30, using: &random) {
            case 0: try sample.store.checkpoint()
            case 1: _ = try sample.store.compact()
            case 2: try sample.store.write { try sample.addOrDropLateIndex($0) }
            case 3: try sample.store.rebuildIndexes()
            default: break
            }
        }
        for (snapshot, people) in kept { try sample.check(snapshot, people) }
        sample.store.finishCheckpoint()
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopen()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound, "seed \(seed)")
    }

    @Test
    func `A handle that follows a load keeps few entries in memory`() throws {
        let sample = try Self.store { $0.checkpointsInBackground = true }
        let other = try SampleStore(fileSystem: sample.fileSystem) {
            $0.checkpointAfterBytes = Self.unit
            $0.checkpointsInBackground = true
        }
        var most = 0
        for _ in 0..<25 {
            try Self.load(sample, bytes: Self.unit / 4)
            _ = try other.store.refresh()
            other.store.finishCheckpoint()
            most = max(most, Self.inMemory(other))
        }
        #expect(most < 3 * Int(Self.unit), "\(most) bytes of entries in memory")
        try other.check(other.store.snapshot(), sample.people)
        // It may write at any time, as others may.
        other.people = sample.people
        try Self.commit(other, rows: 2)
        sample.people = other.people
        try Self.commit(sample, rows: 20)
        try other.check(other.store.refresh(), sample.people)
    }

    @Test
    func `If entries cannot be spilled, checkpoints come as ever`() throws {
        let files = MemoryFileSystem()
        // Another program's.
        files.setContents(of: SampleStore.path + ScratchFile.suffix, to: [1, 2, 3])
        let sample = try Self.store(files)
        try Self.load(sample, bytes: 12 * Self.unit)
        #expect(sample.store.statistics.checkpoints >= 3)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `Runs that are spilled are fewer than the logarithm of their entries`() throws {
        func run(_ size: UInt64) -> FreshRun {
            .spilled(SortedRun(manifest: Manifest.Run(root: .none, entryCount: size, byteCount: size), source: FixedPayload([])))
        }
        let memory = FreshRun.memory(ImmutableMemtable([]))
        #expect(RunSpill(RunSet()) == nil && RunSpill(RunSet(fresh: [run(5)])) == nil)
        // Those in memory become one with those between them, and beside four spilled ones with older ones that are not larger.
        for (sizes, merged) in [([], 1), ([0], 1), ([1, 1, 1], 1), ([0, 0, 0, 0], 5), ([1, 1, 1, 1], 5), ([1, 2, 4, 8], 1), ([0, 0, 0, 1], 4)] as [([UInt64], Int)] {
            #expect(try #require(RunSpill(RunSet(fresh: [memory] + sizes.map(run)))).mergedCount == merged, "\(sizes)")
        }
        let between = try #require(RunSpill(RunSet(fresh: [memory, run(50), memory, run(1000)])))
        #expect(between.mergedCount == 3)
        let large = try #require(RunSpill(RunSet(fresh: [memory, run(50), memory, run(50), run(100), run(201), run(500)])))
        #expect(large.mergedCount == 5)
    }

    /// `AutomaticCompactionTests` has the cases in which none is made.
    @Test
    func `Steady small saves keep the log within twice what it needs, and a sixteenth`() throws {
        let least: UInt64 = 60_000
        let sample = try SampleStore {
            $0.compaction = CompactionPolicy(deadRatio: 0.5, minimumBytes: least)
            $0.checkpointAfterBytes = 8000
        }
        for _ in 0..<5 { try Self.commit(sample, rows: 40) }
        var random = SeededGenerator(seed: 3)
        for number in 0..<3000 {
            let row = UInt64.random(in: 1...200, using: &random)
            var person = try #require(sample.people[row])
            person.age = Int64(number)
            try sample.store.write { try sample.put($0, row, person) }
            sample.people[row] = person
            sample.store.finishCompacting()
            let log = sample.store.log.end, used = sample.store.snapshot().usedBytes
            // The policy looks each time that the log has grown by a sixteenth, and by 64 KiB at least. A commit may bring a checkpoint.
            #expect(log <= max(least, 2 * used) + max(1 << 16, used / 8) + 64_000, "\(log) bytes of log, \(used) used")
        }
        try sample.check(sample.store.snapshot(), sample.people)
    }
}
