import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Compaction beside readers and writers. Its progress closure, which is called without a lock, does the work of another thread or process.
@Suite struct OnlineCompactionTests {
    static func sound(_ sample: SampleStore) throws -> Bool {
        try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound
    }

    static func noFileIsLeft(_ sample: SampleStore) throws -> Bool {
        try sample.fileSystem.identity(of: SampleStore.path + CompactionFile.suffix) == nil
    }

    /// Two handles commit between the rounds: insertions, changes, deletions, checkpoints, an added table and a dropped one.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Commits made during a compaction are in the new file`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore {
            $0.lastRoundBytes = 200
            $0.checkpointAfterBytes = seed % 2 == 0 ? 3_000 : 16 << 20
            $0.segmentShift = 16
            $0.entriesForThread = seed % 3 == 0 ? 0 : .max
        }
        let other = try SampleStore(fileSystem: sample.fileSystem) { $0.segmentShift = 16 }
        for _ in 0..<10 { try RandomWorkloadTests.commit(sample, &random) }
        let dropped = try sample.store.write { try $0.defineTable(name: "dropped", columns: [("a", .int64)]) }
        try sample.store.write { try $0.setSystemValue(20, [1]) }
        var kept = [(sample.store.snapshot(), sample.people)]
        var rounds = 0
        let report = try sample.store.compact { _ in
            rounds += 1
            do {
                // Fewer and fewer, as when copying is faster than writing.
                for number in 0..<max(1, 16 >> rounds) {
                    let (writer, reader) = number % 2 == 0 ? (sample, other) : (other, sample)
                    try RandomWorkloadTests.commit(writer, &random)
                    reader.people = writer.people
                    try reader.check(try reader.store.refresh(), reader.people)
                }
                if rounds == 1 {
                    try other.store.checkpoint()
                    try other.store.write {
                        try $0.dropTable(dropped.id)
                        try $0.setSystemValue(20, nil)
                    }
                    try other.store.write { try $0.setSystemValue(20, [2]) }
                    _ = try sample.store.refresh()
                }
                kept.append((sample.store.snapshot(), sample.people))
            } catch {
                Issue.record("seed \(seed), round \(rounds): \(error)")
            }
            return true
        }
        #expect(rounds > 2 && report.commits > 13, "seed \(seed): \(rounds) rounds, \(report.commits) commits")
        #expect(sample.store.snapshot().sequence == kept.last?.0.sequence)
        try sample.check(sample.store.snapshot(), sample.people)
        try other.check(try other.store.refresh(), sample.people)
        for (snapshot, people) in kept { try sample.check(snapshot, people) }
        #expect(try sample.store.snapshot().unsafeSystemValue(20).map { Array($0) } == [2])
        // Later commits are written, followed and opened as in any other file.
        try RandomWorkloadTests.commit(sample, &random)
        other.people = sample.people
        try RandomWorkloadTests.commit(other, &random)
        sample.people = other.people
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try Self.sound(sample), "seed \(seed)")
        try sample.reopen { $0.rebuildsIndexes = true }
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try Self.noFileIsLeft(sample))
    }

    /// During a compaction, a change beside a large value makes no second copy of the value, and a new value is copied.
    @Test
    func `Values of rows that change during a compaction are in the new file once`() throws {
        let sample = try SampleStore { $0.lastRoundBytes = 100 }
        let picture = SampleStore.Picture(fill: 7, count: 200_000)
        let kept = try sample.insert(.init(name: "kept", age: 1, group: 1, picture: picture))
        let changed = try sample.insert(.init(name: "changed", age: 1, group: 1, picture: picture))
        func update(_ row: UInt64, _ person: SampleStore.Person) throws {
            try sample.store.write { try sample.put($0, row, person) }
            sample.people[row] = person
        }
        var calls = 0
        _ = try sample.store.compact { _ in
            calls += 1
            guard calls <= 3 else { return true }
            do {
                try update(kept, .init(name: "kept \(calls)", age: 2, group: 1, picture: picture))
                if calls == 2 { try update(changed, .init(name: "changed", age: 1, group: 1, picture: .init(fill: 9, count: 100_000))) }
            } catch {
                Issue.record("call \(calls): \(error)")
            }
            return true
        }
        #expect(calls > 3)
        // Both values as they were copied first, the new value, and the rows.
        #expect(sample.store.log.end < 520_000)
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try Self.sound(sample))
    }

    /// An index of one run is copied block by block, one of several runs entry by entry, with or without a second thread.
    @Test(arguments: [0, .max] as [UInt64])
    func `Indexes are copied`(entriesForThread: UInt64) throws {
        let sample = try SampleStore { $0.entriesForThread = entriesForThread }
        func add(_ rows: ClosedRange<UInt64>) throws {
            try sample.store.write { transaction in
                for row in rows {
                    _ = try transaction.newRow(in: sample.table.id)
                    sample.people[row] = .init(name: "name \(row * 7919 % 1000)", age: Int64(row % 50), group: row % 9)
                    try sample.put(transaction, row, sample.people[row]!)
                }
            }
        }
        try add(1...2000)
        try sample.store.checkpoint()
        #expect(sample.store.snapshot().indexes.allSatisfy { ($0?.fresh.count ?? 0) == 0 && ($0?.disk.count ?? 1) == 1 })
        try sample.store.compact()
        try sample.check(sample.store.snapshot(), sample.people)
        try add(2001...2100)
        try sample.store.write { transaction in
            for row in stride(from: UInt64(5), to: 2000, by: 13) {
                _ = try transaction.delete(sample.reference(row))
                sample.people[row] = nil
            }
        }
        try sample.store.checkpoint()
        try add(2101...2110)
        #expect(sample.store.snapshot().indexes.contains { ($0?.disk.count ?? 0) > 1 })
        try sample.store.compact()
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try Self.sound(sample))
    }

    @Test(arguments: [0, .max] as [UInt64])
    func `A damaged index is rebuilt from the rows`(entriesForThread: UInt64) throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files)
        for number in 0..<40 { try sample.insert(.init(name: "name \(number)", age: 1, group: 1)) }
        try sample.store.checkpoint()
        var bytes = try #require(files.contents(of: SampleStore.path))
        let block = try #require(frameOffsets(.indexBlock, in: bytes).first)
        bytes[block + 50] ^= 0xFF
        files.setContents(of: SampleStore.path, to: bytes)
        var options = sample.options
        options.entriesForThread = entriesForThread
        let store = try LogStore.open(path: SampleStore.path, options: options)
        try store.compact()
        try sample.check(store.snapshot(), sample.people)
        #expect(try Self.sound(sample))
    }

    @Test
    func `Rows are stored in their order`() throws {
        let sample = try SampleStore()
        for number in 0..<50 { try sample.insert(.init(name: "\(number)", age: Int64(number), group: 1)) }
        for row in [40, 7, 23] as [UInt64] {
            try sample.store.write { try sample.put($0, row, sample.people[row]!) }
        }
        try sample.store.compact()
        let snapshot = sample.store.snapshot()
        let addresses = try (1...50 as ClosedRange<UInt64>).map { try #require(try snapshot.address(of: sample.reference($0))) }
        #expect(addresses == addresses.sorted())
    }

    /// No lock is held at each call, and copied frames are not copied again.
    @Test
    func `Writers wait only for the last round`() throws {
        let sample = try SampleStore { $0.lastRoundBytes = 500; $0.lockTimeout = .zero }
        let other = try SampleStore(fileSystem: sample.fileSystem) { $0.lockTimeout = .zero }
        for number in 0..<200 { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
        var made: UInt64 = 0, isFirst = true
        let report = try sample.store.compact { state in
            guard isFirst || made < 40 else { return true }
            isFirst = false
            other.people = sample.people
            for number in 0..<20 where (try? other.insert(.init(name: "meanwhile \(number)", age: 2, group: 2))) != nil { made += 1 }
            sample.people = other.people
            return true
        }
        #expect(report.commits == made && made == 40)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `Two compactions exclude each other`() throws {
        let sample = try SampleStore(), other = try SampleStore(fileSystem: sample.fileSystem)
        try sample.insert(.init(name: "a", age: 1, group: 1))
        var codes: [StoreError.Code] = []
        try sample.store.compact { _ in
            for store in [sample.store, other.store] {
                do throws(StoreError) { try store.compact() } catch { codes.append(error.code) }
            }
            return true
        }
        #expect(codes.count >= 2 && codes.allSatisfy { $0 == .locked })
        try other.store.compact()
        try sample.check(try sample.store.refresh(), sample.people)
        #expect(try Self.noFileIsLeft(sample))
    }

    /// The file of a crashed process has no owner: it is removed, and not written to.
    @Test
    func `The file that a crash left is removed`() throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files)
        try sample.insert(.init(name: "a", age: 1, group: 1))
        files.setContents(of: SampleStore.path + CompactionFile.suffix, to: [0, 0, 0])
        let left = try files.open(SampleStore.path + CompactionFile.suffix, .readOnly)
        try sample.store.compact()
        #expect(try left.size() == 3)
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try Self.noFileIsLeft(sample))
    }

    /// For example, a backup is restored.
    @Test
    func `A file that replaces the store meanwhile stays`() throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files)
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        let backup = try #require(files.contents(of: SampleStore.path)), people = sample.people
        try sample.insert(.init(name: "gone", age: 1, group: 1))
        let error = #expect(throws: StoreError.self) {
            try sample.store.compact { _ in
                try? files.remove(SampleStore.path)
                files.setContents(of: SampleStore.path, to: backup)
                return true
            }
        }
        #expect(error?.code == .superseded)
        #expect(files.contents(of: SampleStore.path) == backup)
        #expect(try Self.noFileIsLeft(sample))
        #expect(throws: StoreError.self) { try sample.store.refresh() }
        try sample.reopen()
        #expect(try sample.contents(sample.store.snapshot()) == people)
    }

    @Test
    func `A compaction cancelled while catching up changes nothing`() throws {
        let sample = try SampleStore { $0.lastRoundBytes = 0 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let before = try sample.fileSystem.identity(of: SampleStore.path)
        var isCancelled = false
        let error = #expect(throws: StoreError.self) {
            try sample.store.compact { state in
                if state.commits > 0 {
                    isCancelled = true
                    return false
                }
                return (try? sample.insert(.init(name: "b", age: 1, group: 1))) != nil
            }
        }
        #expect(error?.code == .cancelled && isCancelled)
        #expect(try Self.noFileIsLeft(sample) && sample.fileSystem.identity(of: SampleStore.path) == before)
        try sample.insert(.init(name: "c", age: 1, group: 1))
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// Wherever the space ends, the store is unchanged and accepts writes.
    @Test
    func `A full disk fails only the compaction`() throws {
        func compact(failingAt operation: Int?) throws -> Int {
            let disk = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: disk) { $0.lastRoundBytes = 100 }
            let other = try SampleStore(fileSystem: disk)
            for number in 0..<20 { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
            other.people = sample.people
            let before = disk.operationCount
            if let operation { disk.fail(at: before + operation, .once(ENOSPC)) }
            var failure: StoreError?
            var writes = 2, isOthers = false
            do throws(StoreError) {
                try sample.store.compact { _ in
                    if writes > 0, (try? other.insert(.init(name: "meanwhile", age: 2, group: 2))) == nil { isOthers = true }
                    writes -= 1
                    return !isOthers
                }
            } catch {
                failure = error
            }
            let operations = disk.operationCount - before
            disk.heal()
            if isOthers {
                // The fault was not in the compaction; it is unknown whether the commit exists.
            } else if sample.store.writer(\.poison) == nil {
                try sample.check(try sample.store.refresh(), other.people)
                sample.people = other.people
                try sample.insert(.init(name: "after", age: 3, group: 3))
            } else {
                // The new file's name could not be made durable, or the sync's result is unknown.
                #expect(disk.operations[before + (operation ?? 0)] == .syncDirectory || disk.operations[before...].contains(.syncDirectory))
            }
            #expect(try Self.noFileIsLeft(sample), "operation \(operation ?? -1): \(failure.map { "\($0)" } ?? "")")
            #expect(try Self.sound(sample))
            return operations
        }
        let operations = try compact(failingAt: nil)
        #expect(operations > 12)
        for operation in 0..<operations { _ = try compact(failingAt: operation) }
    }

    @Test
    func `The free space is checked first`() throws {
        let disk = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: disk)
        for number in 0..<200 { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
        disk.limit(to: disk.size + (1 << 20))
        let before = disk.operations
        let error = #expect(throws: StoreError.self) { try sample.store.compact() }
        #expect(error?.code == .noSpace)
        #expect(disk.operations[before.count...].allSatisfy { $0 == .create || $0 == .remove })
    }

    @Test
    func `An empty store is left as it is`() throws {
        var options = StoreOptions()
        options.fileSystem = MemoryFileSystem()
        let store = try LogStore.open(path: SampleStore.path, options: options)
        let identity = try store.fileSystem.identity(of: SampleStore.path)
        let report = try store.compact()
        #expect(report.rows == 0 && report.bytesAfter == report.bytesBefore)
        #expect(try store.fileSystem.identity(of: SampleStore.path) == identity)
    }

    /// A handle that never waits for the disk once replaced another handle's durable commits by an unsynced file.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `A handle without durability keeps another's durable commits`(seed: UInt64) throws {
        let disk = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: disk)
        for number in 0..<20 { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
        let careless = try SampleStore(fileSystem: disk) { $0.durability = .none }
        try careless.store.compact()
        let image = try SampleStore(fileSystem: disk.afterPowerLoss(seed: seed))
        #expect(try image.contents(image.store.snapshot()) == sample.people, "seed \(seed)")
    }

    /// A reader rejects row numbers whose sum exceeds a limit, so nothing beyond it is written.
    @Test
    func `No more row numbers are written than a reader accepts`() throws {
        func isRead(_ next: [UInt64]) -> Bool {
            let numbers = RowNumbers(next: next.enumerated().map { (TableID(rawValue: UInt16($0 + 1)), $1) })
            #expect(numbers.areBelieved == numbers.encoded().withUnsafeBytes { RowNumbers($0) != nil }, "\(next)")
            return numbers.areBelieved
        }
        #expect(isRead([RowNumbers.sumMax]) && isRead([1, RowNumbers.sumMax - 1]) && isRead([]))
        #expect(!isRead([RowNumbers.sumMax, 1]) && !isRead([.max]) && !isRead([.max, .max, 1 << 20]))

        let sample = try SampleStore { $0.segmentShift = 26 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let known = sample.store.snapshot()
        var tables = known.tables
        let number = Int(sample.table.id.rawValue)
        tables[number] = tables[number].map {
            TableState(primary: $0.primary, nextRow: RowNumbers.sumMax + 1, rowCount: $0.rowCount, liveBytes: $0.liveBytes)
        }
        sample.store.publish(Snapshot(
            sequence: known.sequence, catalog: known.catalog, file: known.file, end: known.end, commitChecksum: known.commitChecksum,
            tables: tables, indexes: known.indexes, counters: known.counters))
        for attempt in [{ _ = try sample.store.compact() }, { _ = try sample.store.copy(to: "copy", options: sample.options) }] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .tooLarge && error?.message.contains("row numbers") == true && error?.remedy.isEmpty == false)
        }
        #expect(try Self.noFileIsLeft(sample) && sample.fileSystem.identity(of: "copy") == nil)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }
}
