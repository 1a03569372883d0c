import Foundation
import Synchronization
import Testing

@testable import RecordLog

@Suite struct FollowingTests {
    @Test
    func `A handle follows another's commits by reading the header`() throws {
        let sample = try SampleStore()
        let row = try sample.insert(.init(name: "a", age: 1, group: 1))
        var options = sample.options
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        let known = reader.snapshot()
        #expect(try reader.follow() === known, "nothing is new")
        try sample.store.write { try sample.put($0, row, .init(name: "b", age: 2, group: 1)) }
        #expect(reader.snapshot() === known)
        let newest = try reader.follow()
        #expect(newest.sequence == sample.store.snapshot().sequence && newest.sequence > known.sequence)
        #expect(reader.isUpToDate(newest), "the next look takes no lock")
        try sample.store.compact(findsHolders: false)
        let compacted = try reader.follow()
        #expect(compacted.file !== newest.file && compacted.sequence == newest.sequence, "into the file that replaced it")
        try sample.store.write { _ = try $0.delete(sample.reference(row)) }
        #expect(try reader.follow().unsafeRow(sample.reference(row)) == nil)
        try reader.close()
        #expect(try reader.follow() === reader.snapshot(), "a closed handle keeps what it knew")
    }

    /// A call sees every commit made before it, independent of the handle's other threads.
    @Test(arguments: [false, true])
    func `A thread that follows beside another misses nothing`(isReadOnly: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-followed-\(UUID()).heartwood").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A system file, because its header is read while it is written; the file system in memory does not allow that.
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) { $0.durability = .none }
        var options = sample.options
        options.isReadOnly = isReadOnly
        let reader = try LogStore.open(path: path, options: options)
        let writer = sample.store
        let isDone = Atomic<Bool>(false), missed = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            guard index == 0 else {
                while !isDone.load(ordering: .relaxed) { _ = try? reader.follow() }
                return
            }
            for number in UInt64(1)...3000 {
                try? writer.write { try $0.setSystemValue(100, [UInt8(truncatingIfNeeded: number)]) }
                if (try? reader.follow().sequence) != writer.snapshot().sequence { missed.add(1, ordering: .relaxed) }
            }
            isDone.store(true, ordering: .relaxed)
        }
        #expect(missed.load(ordering: .relaxed) == 0)
        let newest = try reader.follow()
        #expect(reader.isUpToDate(newest), "and the next one takes no lock")
    }

    /// A call does not wait for a thread that waits for another process's lock.
    @Test
    func `A thread that follows beside a waiting writer returns`() throws {
        let sample = try SampleStore { $0.durability = .none }
        var options = sample.options
        options.lockTimeout = .seconds(60)
        let other = try LogStore.open(path: SampleStore.path, options: options)
        let file = try sample.fileSystem.open(SampleStore.path, .readWrite)
        try file.lock(timeout: .zero)
        // Simulates a commit of the lock's holder: the header has changed.
        var superblock = sample.store.log.superblock
        superblock.generation += 1
        let bytes = superblock.encoded(fileID: sample.store.log.file.identity.fileID), table = sample.table.id, offset = superblock.offset
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            guard index == 0 else {
                _ = try? other.write { try $0.delete(RowReference(table: table, row: 1)) }
                return
            }
            // The store has a flag for this, and no signal.
            while !other.isAwaitingLock.load(ordering: .relaxed) { usleep(50) }
            try? bytes.withUnsafeBytes { try file.write($0, at: offset) }
            #expect(ContinuousClock().measure { _ = try? other.follow() } < .seconds(30))
            file.unlock()
        }
        #expect(try other.follow().sequence == sample.store.refresh().sequence)
    }

    /// A superblock that is being written may show its checksum before its other bytes: it is read again.
    @Test
    func `A half-written superblock is read again`() throws {
        let sample = try SampleStore { $0.durability = .none }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        var options = sample.options
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        let known = try reader.follow()
        let file = try sample.fileSystem.open(SampleStore.path, .readWrite)
        let row = try sample.insert(.init(name: "b", age: 2, group: 1))
        let newest = sample.store.log.superblock
        var whole = newest.encoded(fileID: known.file.identity.fileID)
        let written = whole
        for index in 8..<Superblock.Layout.checksum { whole[index] = 0 }
        try whole.withUnsafeBytes { try file.write($0, at: newest.offset) }
        #expect(try reader.follow().sequence == known.sequence)
        #expect(!reader.isUpToDate(known))
        try written.withUnsafeBytes { try file.write($0, at: newest.offset) }
        #expect(try reader.follow().unsafeRow(sample.reference(row)) != nil)
    }

    @Test
    func `A row is found at each of its versions`() throws {
        let sample = try SampleStore()
        let row = try sample.insert(.init(name: "first", age: 1, group: 1)), reference = sample.reference(row)
        let early = sample.store.snapshot()
        try sample.store.write { try sample.put($0, row, .init(name: "second", age: 2, group: 1)) }
        try sample.store.write { _ = try $0.delete(reference) }
        try sample.store.write { try sample.put($0, row, .init(name: "fourth", age: 4, group: 1)) }
        let newest = sample.store.snapshot()
        func age(_ snapshot: Snapshot, _ version: UInt32) throws -> Int64? {
            try snapshot.unsafeRow(reference, version: version).map { try sample.person($0, snapshot.value).age }
        }
        #expect(try [1, 2, 3, 4, 5].map { try age(newest, $0) } == [1, 2, nil, 4, nil], "the third is a deletion")
        #expect(try [1, 2].map { try age(early, $0) } == [1, nil], "a snapshot has no future")
        #expect(try newest.unsafeRow(RowReference(table: sample.table.id, row: 99), version: 1) == nil)
        try sample.store.compact(findsHolders: false)
        #expect(try [2, 4].map { try age(sample.store.snapshot(), $0) } == [nil, 4], "a compaction leaves old versions behind")
    }

    @Test
    func `A watcher returns at a write and after its timeout`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-watched-\(UUID()).bin").path
        try Data([1]).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let watcher = FileWatchers.watcher(of: path)
        let clock = ContinuousClock()
        #expect(clock.measure { watcher.wait(milliseconds: 20) } >= .milliseconds(15))
        #if os(Linux)
            #expect(watcher is NotifiedWatcher)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            handle.write(Data([2]))
            #expect(clock.measure { watcher.wait(milliseconds: 60_000) } < .seconds(30), "an earlier write ends the wait")
            #expect(clock.measure { watcher.wait(milliseconds: 20) } >= .milliseconds(15), "one write ends one wait")
            try handle.close()
        #endif
        let other = FileWatchers.watcher(of: path + ".missing")
        #expect(clock.measure { other.wait(milliseconds: 20) } >= .milliseconds(15))
    }

    #if os(Linux)
        @Test
        func `A watcher of a missing file closes no file of another thread`() {
            let lost = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                for _ in 0..<5_000 {
                    guard thread > 0 else {
                        _ = NotifiedWatcher.make("/heartwood-missing/file")
                        continue
                    }
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    var status = stat()
                    if fstat(descriptor, &status) != 0 || close(descriptor) != 0 { lost.withLock { $0 += 1 } }
                }
            }
            #expect(lost.withLock { $0 } == 0)
        }
    #endif
}
