import Foundation
import Testing

@testable import RecordLog

/// Unexpected actions of a disk, a caller or a second process.
@Suite struct FaultTests {
    private func row(_ table: TableDefinition, _ value: Int64) -> [UInt8] {
        let builder = RowBuilder()
        builder.begin(table.currentLayout)
        builder.set(0, int64: value)
        return Array(builder.unsafeBody())
    }

    @Test
    func `One transaction may make a table and its rows`() throws {
        let sample = try SampleStore()
        let table = try sample.store.write { transaction in
            let table = try transaction.defineTable(name: "T", columns: [("a", .int64)])
            let number = try transaction.newRow(in: table.id)
            try row(table, 7).withUnsafeBytes { try transaction.put(RowReference(table: table.id, row: number), body: $0) }
            return table
        }
        try sample.reopenAfterCrash()
        #expect(sample.store.snapshot().rowCount(table.id) == 1)
    }

    @Test
    func `One transaction may make a layout and its rows`() throws {
        let sample = try SampleStore()
        let table = try sample.store.write { try $0.defineTable(name: "T", columns: [("a", .int64)]) }
        try sample.store.write { transaction in
            _ = try transaction.addLayout(
                to: table.id, columns: table.currentLayout.columns + [Column(id: ColumnID(rawValue: 0), name: "b", type: .text)])
            let new = transaction.catalog.table(table.id)!
            let number = try transaction.newRow(in: table.id)
            try row(new, 7).withUnsafeBytes { try transaction.put(RowReference(table: table.id, row: number), body: $0) }
        }
        try sample.reopenAfterCrash()
        #expect(sample.store.snapshot().rowCount(table.id) == 1)
    }

    @Test
    func `A failed checkpoint does not fail the save`() throws {
        let system = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: system) { $0.checkpointAfterBytes = 400; $0.durability = .none }
        // The checkpoint's first write after the commit's two.
        try sample.insert(.init(name: "a", age: 1, group: 1))
        system.fail(at: system.operations.count + 2, .once(ENOSPC))
        let checkpoints = sample.store.statistics.checkpoints
        try sample.insert(.init(name: "b", age: 1, group: 1))
        #expect(sample.store.statistics.checkpoints == checkpoints)
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// The handle once kept the distance of the failure: after a full disk the log grew by as much again before the next checkpoint.
    @Test
    func `After a checkpoint that failed here and one that another handle wrote, the next one comes as early as ever`() throws {
        let disk = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: disk) {
            $0.checkpointAfterBytes = 20_000
            $0.durability = .none
            $0.zeroAheadBytes = 0
            $0.largeCommitBytes = .max
        }
        var options = sample.options
        options.checkpointAfterBytes = 16 << 20
        let other = try LogStore.open(path: SampleStore.path, options: options)
        // The checkpoint's first write, after the commit's two.
        disk.fail(at: disk.operationCount + 2, .once(ENOSPC))
        try sample.insert(.init(name: String(repeating: "a", count: 21_000), age: 1, group: 1))
        #expect(sample.store.statistics.checkpoints == 0 && sample.store.writer(\.bytesBehindAtFailure) > 20_000)
        try other.checkpoint()
        for _ in 0..<2 { try sample.insert(.init(name: String(repeating: "b", count: 11_000), age: 1, group: 1)) }
        #expect(sample.store.statistics.checkpoints == 1)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A checkpoint that finds no room is taken back, and another handle and then this one write at its offset`() throws {
        var failures = 0
        for operation in 0..<6 {
            let disk = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: disk) { $0.durability = .none; $0.zeroAheadBytes = 0 }
            let other = try SampleStore(fileSystem: disk) { $0.durability = .none; $0.zeroAheadBytes = 0 }
            try sample.insert(.init(name: "a", age: 1, group: 1))
            disk.fail(at: disk.operationCount + operation, .once(ENOSPC))
            do { try sample.store.checkpoint() } catch { failures += 1 }
            disk.heal()
            other.people = sample.people
            try other.insert(.init(name: "b", age: 2, group: 2))
            sample.people = other.people
            try sample.insert(.init(name: "c", age: 3, group: 3))
            try sample.check(sample.store.snapshot(), sample.people)
            try sample.reopenAfterCrash()
            try sample.check(sample.store.snapshot(), sample.people)
        }
        #expect(failures >= 2, "its frames, and its superblock")
    }

    @Test
    func `A refused value leaves no index entry`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        let row = try sample.insert(.init(name: "a", age: 1, group: 1))
        try sample.store.write { transaction in
            #expect(throws: StoreError.self) {
                try sample.put(transaction, row, .init(name: String(repeating: "x", count: 70_000), age: 1, group: 1))
            }
            try transaction.setSystemValue(20, [1])
        }
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A reader without the key extractor does not see a stale index`() throws {
        struct Ages: IndexKeyExtractor {
            func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
                key.append(int64: row.int64(layout.access[1]))
                return true
            }
        }
        let sample = try SampleStore { $0.extractors = ["ages": Ages()] }
        let index = try sample.store.write { try $0.defineIndex(named: "x", on: sample.table.id, parts: [], extractorName: "ages") }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        try sample.store.checkpoint()
        try sample.insert(.init(name: "b", age: 2, group: 1))
        var options = sample.options
        options.extractors = [:]
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        #expect(throws: StoreError.self) { try sample.rows(reader.snapshot(), index) }
    }

    @Test
    func `A sync after one that lost pages is not trusted`() throws {
        for seed in 0..<12 as Range<UInt64> {
            let system = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: system)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            system.fail(at: system.operations.count, .syncLosesPages)
            #expect(throws: StoreError.self) { try sample.insert(.init(name: "b", age: 2, group: 1)) }
            try sample.reopenAfterCrash()
            sample.people = try sample.contents(sample.store.snapshot())
            try sample.insert(.init(name: "c", age: 3, group: 1))
            let rest = system.afterPowerLoss(seed: seed)
            var options = sample.options
            options.fileSystem = rest
            let again = try LogStore.open(path: SampleStore.path, options: options)
            #expect(try sample.contents(again.snapshot()) == sample.people, "seed \(seed)")
        }
    }

    /// A handle that opened the file after another's sync had failed gets no error from its next sync, which once counted for the bytes that the
    /// first had lost.
    @Test
    func `A handle that followed a compaction does not trust a sync after a failed one`() throws {
        for seed in 0..<12 as Range<UInt64> {
            let disk = SimulatedFileSystem(seed: seed)
            let first = try SampleStore(fileSystem: disk) { $0.durability = .relaxed }
            let second = try SampleStore(fileSystem: disk)
            try first.insert(.init(name: "a", age: 1, group: 1))
            _ = try first.store.compact()
            try first.insert(.init(name: "b", age: 2, group: 1))
            disk.fail(at: disk.operationCount, .syncLosesPages)
            #expect(throws: StoreError.self) { try first.store.sync() }
            _ = try second.store.refresh()
            second.people = first.people
            try second.insert(.init(name: "c", age: 3, group: 1))
            var options = second.options
            options.fileSystem = disk.afterPowerLoss(seed: seed)
            let again = try LogStore.open(path: SampleStore.path, options: options)
            #expect(try second.contents(again.snapshot()) == second.people, "seed \(seed)")
        }
    }

    @Test
    func `A handle that followed a compaction writes what is not durable again once, and not with each of its commits`() throws {
        let disk = SimulatedFileSystem()
        let first = try SampleStore(fileSystem: disk) { $0.durability = .relaxed }
        let second = try SampleStore(fileSystem: disk) { $0.durability = .relaxed }
        try first.insert(.init(name: "a", age: 1, group: 1))
        _ = try first.store.compact()
        try first.insert(.init(name: "b", age: 2, group: 1))
        _ = try second.store.refresh()
        #expect(second.store.writer(\.mustRewrite))
        for _ in 0..<2 { try second.insert(.init(name: "c", age: 3, group: 1)) }
        let before = disk.operationCount
        try second.insert(.init(name: "d", age: 4, group: 1))
        #expect(disk.operationCount == before + 2, "the commit and its superblock")
    }

    /// A superblock's checksum is that of the commit that it names; the handle finds the rest of the log with it.
    @Test
    func `A commit whose writer died before its superblock is announced by another handle, and the next such commit is found behind it`() throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files)
        let other = try LogStore.open(path: SampleStore.path, options: sample.options)
        func insertAndDieBeforeTheSuperblock(_ name: String) throws {
            let header = try #require(files.contents(of: SampleStore.path)).prefix(Int(FileFormat.dataStart))
            try sample.reopenAfterCrash()
            try sample.insert(.init(name: name, age: 1, group: 1))
            let file = try files.open(SampleStore.path, .readWrite)
            try Array(header).withUnsafeBytes { try file.write($0, at: 0) }
        }
        try insertAndDieBeforeTheSuperblock("a")
        try other.sync()
        try insertAndDieBeforeTheSuperblock("b")
        var options = sample.options
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        try sample.check(reader.snapshot(), sample.people)
    }

    /// A checkpoint that failed after its commit had poisoned the handle, and closing it once reported nothing.
    @Test
    func `Closing reports commits that are not durable`() throws {
        let system = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: system) { $0.checkpointAfterBytes = 300; $0.durability = .relaxed }
        try sample.store.sync()
        system.fail(at: system.operations.count, .syncLosesPages)
        try sample.insert(.init(name: String(repeating: "a", count: 300), age: 1, group: 1))
        let error = #expect(throws: StoreError.self) { try sample.store.close() }
        #expect(error?.code == .poisoned)
        try sample.store.close()
    }

    /// The handle once kept the failure's offset after compaction had made the file shorter: the next save trapped.
    @Test
    func `A compaction after a failed checkpoint does not trap`() throws {
        let system = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: system) { $0.checkpointAfterBytes = 3000; $0.durability = .none; $0.zeroAheadBytes = 0 }
        let row = try sample.insert(.init(name: "a", age: 1, group: 1))
        for number in 0..<30 where sample.store.writer(\.bytesBehindAtFailure) == 0 {
            system.fail(at: system.operations.count + 2, .once(ENOSPC))
            try sample.store.write { try sample.put($0, row, .init(name: "\(number)" + String(repeating: "a", count: 200), age: 1, group: 1)) }
            system.heal()
        }
        #expect(sample.store.writer(\.bytesBehindAtFailure) > 0)
        _ = try sample.store.compact()
        try sample.insert(.init(name: "b", age: 1, group: 1))
        #expect(sample.store.snapshot().rowCount(sample.table.id) == 2)
    }

    /// A handle once mistook the commits behind another's checkpoint for a part of it, and neither wrote nor synced its own.
    @Test
    func `A checkpoint covers commits behind another's checkpoint`() throws {
        let sample = try SampleStore { $0.durability = .relaxed }
        let other = try SampleStore(fileSystem: sample.fileSystem) { $0.durability = .relaxed }
        try sample.store.checkpoint()
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let syncs = other.store.statistics.syncs
        try other.store.checkpoint()
        #expect(other.store.statistics.syncs == syncs + 1)
        #expect(other.store.statistics.checkpoints == 1)
    }

    /// Learning another handle's commits stores their addresses where all snapshots look. After a failure in between, the next try once mistook the
    /// new rows for the old ones: counts and index entries were wrong, and a checkpoint kept them.
    @Test
    func `Learning commits again after a failure learns them once`() throws {
        let system = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: system)
        let row = try sample.insert(.init(name: "a", age: 1, group: 1))
        let other = try SampleStore(fileSystem: system)
        // One handle dies between its commit's sync and its superblock; the other cannot write the commit again.
        system.fail(at: system.operationCount + 1, .once(EIO))
        #expect(throws: StoreError.self) {
            try sample.store.write { transaction in
                try sample.put(transaction, row, .init(name: "b", age: 2, group: 2))
                try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: "c", age: 3, group: 3))
            }
        }
        system.fail(at: system.operationCount, .once(EIO))
        #expect(throws: StoreError.self) { try other.insert(.init(name: "d", age: 4, group: 4)) }
        try other.insert(.init(name: "e", age: 5, group: 5))
        let people: [UInt64: SampleStore.Person] = [
            1: .init(name: "b", age: 2, group: 2), 2: .init(name: "c", age: 3, group: 3), 3: .init(name: "e", age: 5, group: 5),
        ]
        try other.check(other.store.snapshot(), people)
    }

    /// A store can read nothing behind its last segment, so it writes nothing there either.
    @Test
    func `A store that has reached its last segment takes nothing more until it is compacted`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        // Simulates a log that has grown to that offset.
        let file = sample.store.snapshot().file
        sample.store.writerLock.hold(for: sample.store) { $0.writer.end = file.sizeMax - 2 * file.segmentSize }
        try file.storage.truncate(to: sample.store.log.end)
        var refusal: StoreError?
        while refusal == nil {
            do {
                try sample.insert(.init(name: String(repeating: "n", count: 3000), age: 1, group: 1))
            } catch {
                refusal = error as? StoreError
            }
        }
        #expect(refusal?.code == .tooLarge && refusal?.remedy.isEmpty == false && sample.people.count > 30)
        #expect(try file.storage.size() <= file.sizeMax, "zeroes ahead")
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.store.compact()
        try sample.insert(.init(name: "b", age: 1, group: 1))
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// Once another store has decided, the commit must be completed.
    @Test
    func `A prepared commit is refused if its commit frame would not fit`() throws {
        let sample = try SampleStore()
        let file = sample.store.snapshot().file
        let id = StoredUUID(words: (1, 2))
        let record = PreparedRecord(group: id, coordinator: id, decision: 1, relativePath: "a", path: "/a")
        let footer = CommitFooter(sequence: 2, previousChecksum: 0, timestamp: 0, durableSequence: 0, rowCount: 0, authorLength: 0)
        func prepare(before end: UInt64) throws {
            let appender = FrameAppender(file: file, at: file.sizeMax - end, sequence: 2, counters: Counters())
            _ = try appender.appendPrepared(record, footer, author: [])
        }
        try prepare(before: 2 * FrameAppender.completionSizeMax)
        let error = #expect(throws: StoreError.self) { try prepare(before: FrameAppender.completionSizeMax) }
        #expect(error?.code == .tooLarge)
    }
}
