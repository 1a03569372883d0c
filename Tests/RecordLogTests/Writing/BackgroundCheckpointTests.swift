import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct BackgroundCheckpointTests {
    /// Each snapshot keeps its content meanwhile, and the store opens again with everything after a short replay.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `Commits continue while checkpoints are written`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore {
            $0.checkpointAfterBytes = 30_000
            $0.checkpointsInBackground = true
            $0.entriesForThread = seed % 2 == 0 ? 0 : .max
        }
        var kept: [(Snapshot, [UInt64: SampleStore.Person])] = []
        for number in 0..<120 {
            try RandomWorkloadTests.commit(sample, &random)
            if number % 15 == 0 { kept.append((sample.store.snapshot(), sample.people)) }
            if number % 40 == 30 { _ = try sample.store.compact() }
        }
        sample.store.finishCheckpoint()
        #expect(sample.store.statistics.checkpoints > 3, "seed \(seed)")
        try sample.check(sample.store.snapshot(), sample.people)
        for (snapshot, people) in kept { try sample.check(snapshot, people) }
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(sample.store.statistics.bytesReplayed < 90_000, "seed \(seed)")
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound, "seed \(seed)")
    }

    @Test
    func `After a checkpoint that failed and one that was written, the next one comes as early as ever`() throws {
        let disk = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: disk) {
            $0.checkpointAfterBytes = 20_000
            $0.checkpointsInBackground = true
            $0.durability = .none
            $0.zeroAheadBytes = 0
        }
        // More than half of the bytes after which a checkpoint is due.
        func commit() throws {
            try sample.insert(.init(name: String(repeating: "-", count: 11_000), age: 1, group: 1))
            sample.store.finishCheckpoint()
        }
        // The checkpoint's first write, after the commit's two.
        disk.fail(at: disk.operationCount + 2, .once(ENOSPC))
        try commit()
        #expect(sample.store.statistics.checkpoints == 0 && sample.store.writer(\.bytesBehindAtFailure) > 0)
        try commit()
        #expect(sample.store.statistics.checkpoints == 1)
        try commit()
        #expect(sample.store.statistics.checkpoints == 2)
    }

    @Test
    func `After a checkpoint that gave way to another handle's, and one that was written, the next one comes as early as ever`() throws {
        let files = SyncHook(MemoryFileSystem())
        let sample = try SampleStore(fileSystem: files) {
            $0.checkpointAfterBytes = 40_000
            $0.checkpointsInBackground = true
            $0.largeCommitBytes = .max
            $0.durability = .relaxed
        }
        var options = sample.options
        options.checkpointAfterBytes = 16 << 20
        let other = try LogStore.open(path: SampleStore.path, options: options)
        func commit() throws {
            try sample.insert(.init(name: String(repeating: "-", count: 21_000), age: 1, group: 1))
            sample.store.finishCheckpoint()
        }
        files.arm {
            guard other.statistics.checkpoints == 0 else { return }
            try? other.checkpoint()
            _ = try? other.write { try $0.setSystemValue(20, [UInt8](repeating: 1, count: 15_000)) }
        }
        try commit()
        files.disarm()
        #expect(sample.store.statistics.checkpoints == 0 && other.statistics.checkpoints == 1)
        #expect(sample.store.writer(\.bytesBehindAtFailure) > 0)
        try commit()
        #expect(sample.store.statistics.checkpoints == 1)
        try commit()
        #expect(sample.store.statistics.checkpoints == 2)
    }

    /// Opening steps only over the batch with the manifest, however large the checkpoint is.
    @Test
    func `The log continues behind a checkpoint without commits in between`() throws {
        let sample = try SampleStore()
        for number in 0..<3000 { try sample.insert(.init(name: "a name of some length, \(number)", age: Int64(number), group: 1)) }
        try sample.store.checkpoint()
        let log = sample.store.log
        let manifest = log.superblock.checkpoint
        let loaded = try CheckpointReader(file: log.file, counters: sample.store.counters).load(manifest, size: log.end)
        #expect(manifest.offset - loaded.end <= 64)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// A second handle writes while the first one writes its checkpoint.
    @Test
    func `Another writer may write between the batches`() throws {
        let sample = try SampleStore {
            $0.checkpointAfterBytes = 20_000
            $0.checkpointsInBackground = true
            $0.entriesForThread = 0
        }
        let other = try SampleStore(fileSystem: sample.fileSystem)
        var random = SeededGenerator(seed: 9)
        for _ in 0..<60 {
            try RandomWorkloadTests.commit(sample, &random)
            other.people = sample.people
            try RandomWorkloadTests.commit(other, &random)
            sample.people = other.people
        }
        sample.store.finishCheckpoint()
        try sample.check(try sample.store.refresh(), sample.people)
        try other.check(try other.store.refresh(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    @Test
    func `The frames of a checkpoint bear the number of the newest commit before them, be it another handle's`() throws {
        let files = SyncHook(MemoryFileSystem())
        let sample = try SampleStore(fileSystem: files) {
            $0.checkpointAfterBytes = 20_000
            $0.checkpointsInBackground = true
        }
        var options = sample.options
        options.checkpointAfterBytes = 16 << 20
        let other = try LogStore.open(path: SampleStore.path, options: options)
        // Between two batches.
        files.arm { _ = try? other.write { try $0.setSystemValue(20, [1]) } }
        let first = sample.store.snapshot().sequence + 1
        try sample.insert(.init(name: String(repeating: "-", count: 12_000), age: 1, group: 1))
        sample.store.finishCheckpoint()
        files.disarm()
        #expect(sample.store.statistics.checkpoints == 1)
        var newest: UInt64 = 0, manifests: [UInt64] = []
        try StoreInspector(store: sample.store).forEachFrame(upTo: sample.store.log.end) { frame in
            switch frame.header.kind {
            case .commit: newest = frame.header.sequence
            case .batch: #expect(frame.header.sequence == newest)
            case .checkpoint: manifests.append(frame.header.sequence)
            default: break
            }
        }
        #expect(manifests.last ?? 0 > first)
    }

    /// A handle that only follows takes over another's checkpoints, so that its memory stays bounded.
    @Test
    func `A follower takes over checkpoints`() throws {
        let sample = try SampleStore { $0.checkpointAfterBytes = 5_000 }
        var options = sample.options
        options.isReadOnly = true
        let follower = try LogStore.open(path: SampleStore.path, options: options)
        for number in 0..<300 {
            try sample.insert(.init(name: "name \(number)", age: Int64(number), group: 1))
            if number % 50 == 0 { try sample.check(try follower.refresh(), sample.people) }
        }
        let snapshot = try follower.refresh()
        try sample.check(snapshot, sample.people)
        let inMemory = snapshot.indexes.reduce(0) { $0 + ($1?.freshEntryCount ?? 0) }
        #expect(inMemory < 150)
    }

    /// Any byte of it may be damaged, except those of its kind and length.
    @Test
    func `A damaged batch frame does not end the log`() throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files)
        try sample.insert(.init(name: "before", age: 1, group: 1))
        try sample.store.checkpoint()
        try sample.insert(.init(name: "after", age: 1, group: 1))
        let bytes = try #require(files.contents(of: SampleStore.path))
        let batch = try #require(frameOffsets(.batch, in: bytes).first)
        var options = sample.options
        options.isReadOnly = true
        for offset in 8..<64 where offset != FrameHeader.Layout.kind {
            var damaged = bytes
            damaged[batch + offset] ^= 0x40
            files.setContents(of: "damaged", to: damaged)
            let store = try LogStore.open(path: "damaged", options: options)
            #expect(store.snapshot().sequence == sample.store.snapshot().sequence, "byte \(offset)")
        }
    }

    /// Some runs become a new base and small ones stay beside it, with or without a second thread.
    @Test(arguments: [0, .max] as [UInt64])
    func `Indexes are written completely or in part`(entriesForThread: UInt64) throws {
        let sample = try SampleStore { $0.entriesForThread = entriesForThread }
        func put(_ rows: some Sequence<UInt64>, round: Int64) throws {
            try sample.store.write { transaction in
                for row in rows {
                    if sample.people[row] == nil { _ = try transaction.newRow(in: sample.table.id) }
                    sample.people[row] = .init(name: "name \(row * 7919 % 1000)", age: Int64(row % 50) + round, group: row % 9)
                    try sample.put(transaction, row, sample.people[row]!)
                }
            }
        }
        try put(1...2000, round: 0)
        try sample.store.checkpoint()
        try put(stride(from: 3, to: 2000, by: 17), round: 1)
        try sample.store.write { transaction in
            for row in stride(from: UInt64(5), to: 2000, by: 29) {
                _ = try transaction.delete(sample.reference(row))
                sample.people[row] = nil
            }
        }
        try sample.store.checkpoint()
        #expect(sample.store.snapshot().indexes.contains { ($0?.disk.count ?? 0) == 2 })
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        try put(2001...5000, round: 0)
        try sample.store.checkpoint()
        #expect(sample.store.snapshot().indexes.allSatisfy { ($0?.disk.count ?? 1) == 1 })
        try sample.reopenAfterCrash()
        #expect(sample.store.statistics.bytesReplayed == 0)
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    /// The older run cannot be merged, whichever thread finds that out; the log has everything for a new one.
    @Test(arguments: [0, .max] as [UInt64])
    func `The next checkpoint rebuilds a damaged run`(entriesForThread: UInt64) throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files)
        for number in 0..<40 { try sample.insert(.init(name: "name \(number)", age: 1, group: 1)) }
        try sample.store.checkpoint()
        var bytes = try #require(files.contents(of: SampleStore.path))
        for block in frameOffsets(.indexBlock, in: bytes) { bytes[block + 50] ^= 0xFF }
        files.setContents(of: SampleStore.path, to: bytes)
        sample.options.entriesForThread = entriesForThread
        try sample.reopenAfterCrash()
        try sample.store.write { transaction in
            for row in 41...120 as ClosedRange<UInt64> {
                _ = try transaction.newRow(in: sample.table.id)
                sample.people[row] = .init(name: "name \(row)", age: 2, group: 2)
                try sample.put(transaction, row, sample.people[row]!)
            }
        }
        try sample.store.checkpoint()
        try sample.reopenAfterCrash()
        #expect(sample.store.statistics.bytesReplayed == 0)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A replay steps over a checkpoint's batches`() throws {
        let sample = try SampleStore()
        for number in 0..<2_000 { sample.people[UInt64(number + 1)] = .init(name: "name \(number)", age: 1, group: 1) }
        try sample.store.write { transaction in
            for row in 1...2_000 as ClosedRange<UInt64> {
                _ = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, sample.people[row]!)
            }
        }
        try sample.store.checkpoint()
        try sample.reopenAfterCrash()
        #expect(sample.store.statistics.bytesReplayed == 0)
        try sample.check(sample.store.snapshot(), sample.people)
    }
}
