import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Commits of several threads that wait for one sync. `append` and `finish` are the two halves of a write, so one thread can stand for several.
@Suite struct SharedSyncTests {
    private static func sample(_ disk: any FileSystem, path: String = SampleStore.path, zeroAhead: Int = 1 << 16) throws -> SampleStore {
        try SampleStore(fileSystem: disk, path: path) {
            $0.alwaysSharesSyncs = true
            $0.zeroAheadBytes = zeroAhead
        }
    }

    /// Appends a commit of one person.
    private static func append(_ sample: SampleStore, _ person: SampleStore.Person) throws -> (sync: SharedSync, row: UInt64) {
        var failure: (any Error)?, row: UInt64 = 0
        let sync = try sample.store.append(author: nil, failure: &failure) { transaction in
            row = try transaction.newRow(in: sample.table.id)
            try sample.put(transaction, row, person)
        }
        if let failure { throw failure }
        return (try #require(sync), row)
    }

    private static func person(_ number: Int, bytes: Int = 0) -> SampleStore.Person {
        .init(name: "\(number)" + String(repeating: "-", count: bytes), age: Int64(number), group: 1)
    }

    @Test
    func `Commits that arrive during a sync share the next one, and no reader sees one before its sync`() throws {
        let sample = try Self.sample(SimulatedFileSystem())
        let before = sample.store.snapshot(), syncs = sample.store.statistics.syncs
        // The first one's sync is about to begin, and the others wait for the next.
        let appended = try (0..<5).map { try Self.append(sample, Self.person($0)) }
        #expect(appended[1...].allSatisfy { $0.sync === appended[1].sync } && appended[0].sync !== appended[1].sync)
        #expect(sample.store.snapshot() === before, "nothing is published")
        #expect(try sample.store.refresh() === before)
        try sample.store.finish(appended[0].sync)
        #expect(sample.store.snapshot().sequence == before.sequence + 1, "the first one")
        #expect(sample.store.statistics.syncs == syncs + 1)
        for (sync, _) in appended[1...] { try sample.store.finish(sync) }
        #expect(sample.store.statistics.syncs == syncs + 2, "no save waits for more than two syncs")
        #expect(sample.store.snapshot().sequence == before.sequence + 5)
        for (number, (_, row)) in appended.enumerated() { sample.people[row] = Self.person(number) }
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    @Test
    func `A transaction begins with the commits that wait for their sync`() throws {
        let sample = try Self.sample(SimulatedFileSystem())
        let row = try sample.insert(Self.person(0))
        var ages: [Int64] = [], syncs: [SharedSync] = [], failure: (any Error)?
        for _ in 0..<4 {
            let sync = try sample.store.append(author: nil, failure: &failure) { transaction in
                let known = try #require(try transaction.unsafeRow(sample.reference(row)))
                var person = try sample.person(known, { _, _ in nil })
                ages.append(person.age)
                person.age += 1
                try sample.put(transaction, row, person)
            }
            syncs.append(try #require(sync))
        }
        #expect(failure == nil && ages == [0, 1, 2, 3])
        for sync in syncs { try sample.store.finish(sync) }
        let version = try sample.store.snapshot().unsafeRow(sample.reference(row))?.version
        #expect(version == 5)
    }

    /// The caller looks at the published commits to find out what it conflicts with.
    @Test
    func `A write that gives up after it has read commits that wait returns once they are published`() throws {
        struct Conflict: Error {}
        let sample = try Self.sample(SimulatedFileSystem())
        let (sync, row) = try Self.append(sample, Self.person(1))
        #expect(throws: Conflict.self) { try sample.store.write { _ in throw Conflict() } }
        #expect(try sample.store.snapshot().contains(sample.reference(row)))
        try sample.store.finish(sync)
    }

    @Test
    func `A thread that writes alone syncs with the call that writes`() throws {
        let disk = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: disk) { $0.zeroAheadBytes = 1 << 16 }
        for number in 0..<3 { try sample.insert(Self.person(number)) }
        let before = disk.operationCount
        try sample.insert(Self.person(3))
        // The commit, and its superblock.
        #expect(disk.operations[before...] == [.syncedWrite, .write])
    }

    @Test(arguments: 0..<24)
    func `Power may go at each call of commits that share syncs`(seed: UInt64) throws {
        // The count of calls comes from a run without a crash.
        var calls = 0
        var at = 0
        repeat {
            let disk = SimulatedFileSystem(seed: seed), sample = try Self.sample(disk, zeroAhead: seed % 2 == 0 ? 4096 : 0)
            try sample.insert(Self.person(0))
            let first = disk.operationCount
            if calls > 0 { disk.fail(at: first + at) }
            var states = [sample.store.snapshot().sequence: sample.people], floor = sample.store.snapshot().sequence
            do {
                var appended: [(sync: SharedSync, sequence: UInt64)] = []
                for number in 1...5 {
                    // Some take several frames.
                    let person = Self.person(number, bytes: number % 2 * 6000)
                    let sequence = floor + UInt64(number)
                    var people = states[sequence - 1] ?? [:]
                    people[UInt64(people.count + 1)] = person
                    states[sequence] = people
                    appended.append((try Self.append(sample, person).sync, sequence))
                }
                for (sync, sequence) in appended {
                    try sample.store.finish(sync)
                    floor = max(floor, sequence)
                }
            } catch let error as StoreError where error.code == .io || error.code == .poisoned {}
            if calls == 0 { calls = disk.operationCount - first } else { at += 1 }
            for loss in 0..<UInt64(6) {
                let reopened = try Self.sample(disk.afterPowerLoss(seed: loss + seed * 6))
                let newest = reopened.store.snapshot()
                #expect(newest.sequence >= floor, "seed \(seed), call \(at): an acknowledged commit is lost")
                try reopened.check(newest, try #require(states[newest.sequence]))
                try reopened.insert(Self.person(9))
                try reopened.store.close()
                #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: reopened.fileSystem).isSound)
            }
        } while at < calls
        #expect(calls > 8)
    }

    /// The second of three commits does not fit: the first and the third do.
    @Test
    func `Of commits that share a sync a full disk refuses those that do not fit`() throws {
        let disk = SimulatedFileSystem(), sample = try Self.sample(disk, zeroAhead: 0)
        try sample.insert(Self.person(0))
        let first = try Self.append(sample, Self.person(1))
        disk.limit(to: disk.size + 8000)
        var error: StoreError?
        do { _ = try Self.append(sample, Self.person(2, bytes: 12_000)) } catch let failure as StoreError { error = failure }
        #expect(error?.code == .noSpace)
        let third = try Self.append(sample, Self.person(3))
        for (sync, _) in [first, third] { try sample.store.finish(sync) }
        for (row, number) in [(first.row, 1), (third.row, 3)] { sample.people[row] = Self.person(number) }
        try sample.check(sample.store.snapshot(), sample.people)
        let reopened = try Self.sample(disk.afterPowerLoss(seed: 0))
        try reopened.check(reopened.store.snapshot(), sample.people)
    }

    @Test
    func `A sync that fails fails every commit that waits, and readers keep the commit before`() throws {
        let disk = SimulatedFileSystem(), sample = try Self.sample(disk)
        let row = try sample.insert(Self.person(0)), removed = try sample.insert(Self.person(1)), gone = try sample.insert(Self.person(2))
        try sample.store.write { _ = try $0.delete(sample.reference(gone)) }
        sample.people[gone] = nil
        let known = sample.store.snapshot()
        var syncs: [SharedSync] = [], failure: (any Error)?
        for number in 3..<6 {
            let sync = try sample.store.append(author: nil, failure: &failure) { transaction in
                try sample.put(transaction, row, Self.person(number))
                if number == 4 { _ = try transaction.delete(sample.reference(removed)) }
                try sample.put(transaction, try transaction.newRow(in: sample.table.id), Self.person(number))
            }
            syncs.append(try #require(sync))
        }
        #expect(failure == nil)
        disk.fail(at: disk.operationCount, .syncLosesPages)
        for sync in syncs { #expect(throws: StoreError.self) { try sample.store.finish(sync) } }
        #expect(sample.store.snapshot() === known && sample.store.writer(\.poison) != nil)
        try sample.check(known, sample.people)
        #expect(throws: StoreError.self) { try sample.insert(Self.person(9)) }
        // No address leads behind the published end, where another process may cut bytes off.
        for state in known.tables {
            state?.primary.delta.forEach { row, address in #expect(address & ~PrimaryDelta.tombstoneBit < known.end, "row \(row)") }
        }
        let other = try Self.sample(disk)
        #expect(other.store.snapshot().sequence >= known.sequence, "the file's lock is free")
    }

    @Test
    func `Everything that writes otherwise waits for the syncs of appended commits`() throws {
        let acts: [(String, (SampleStore) throws -> Void)] = [
            ("checkpoint", { try $0.store.checkpoint() }), ("compaction", { _ = try $0.store.compact() }), ("sync", { try $0.store.sync() }),
            ("closing", { try $0.store.close() }), ("rebuilding", { try $0.store.rebuildIndexes() }),
            ("several stores", { sample in
                let other = try SampleStore(fileSystem: sample.fileSystem, path: "other") { _ in }
                try LogStore.write(to: [sample.store, other.store]) { for one in $0 { try one.setSystemValue(9, [1]) } }
            }),
        ]
        for (name, act) in acts {
            let sample = try Self.sample(SimulatedFileSystem())
            try sample.insert(Self.person(0))
            let appended = try (1..<4).map { try Self.append(sample, Self.person($0)) }
            try act(sample)
            for (number, (sync, row)) in appended.enumerated() {
                try sample.store.finish(sync)
                sample.people[row] = Self.person(number + 1)
            }
            try sample.check(sample.store.snapshot(), sample.people)
            try sample.store.close()
            #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound, "\(name)")
        }
    }

    @Test
    func `Another handle gets the file's lock only when appended commits are published`() throws {
        let disk = SimulatedFileSystem(), sample = try Self.sample(disk)
        var options = sample.options
        options.lockTimeout = .zero
        let other = try LogStore.open(path: SampleStore.path, options: options)
        let (sync, row) = try Self.append(sample, Self.person(1))
        #expect(throws: StoreError.self) { try other.write { try $0.setSystemValue(9, [1]) } }
        #expect(try !other.refresh().contains(sample.reference(row)), "nor does it see one")
        try sample.store.finish(sync)
        try other.write { try $0.setSystemValue(9, [1]) }
        #expect(try other.snapshot().contains(sample.reference(row)))
    }

    // MARK: Threads

    private final class Tally: Sendable {
        let isDone = Atomic<Bool>(false), failures = Atomic<Int>(0)
    }

    private static func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-shared-\(UUID()).heartwood").path
    }

    /// Runs `body` on threads of their own: a queue has no more than there are cores.
    private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ends = (0..<count).map { _ in Completion() }
        for (number, end) in ends.enumerated() {
            Thread.detachNewThread {
                body(number)
                end.finish()
            }
        }
        for end in ends { end.wait() }
    }

    /// Each adds one to the same row: a commit that were checked against an older one would lose a count.
    @Test
    func `Commits of threads are as if one came after the other`() throws {
        let path = Self.temporaryPath()
        defer { for end in ["", ".compacting"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) {
            $0.checkpointAfterBytes = 40_000
            $0.checkpointsInBackground = true
        }
        let row = try sample.insert(Self.person(0)), table = sample.table, store = sample.store
        let before = store.statistics, threads = 8, count = 60, tally = Tally()
        let access = table.currentLayout.access[1]
        Self.onThreads(threads) { _ in
            let builder = RowBuilder()
            for _ in 0..<count {
                var made: Int64 = 0
                try? store.write { transaction in
                    guard let known = try transaction.unsafeRow(RowReference(table: table.id, row: row)) else { return }
                    made = known.int64(access) + 1
                    builder.begin(table.currentLayout, copying: known, of: table.currentLayout)
                    builder.set(1, int64: made)
                    try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
                }
                let seen = try? store.snapshot().unsafeRow(RowReference(table: table.id, row: row))?.int64(access)
                if made == 0 || (seen ?? 0) < made { tally.failures.add(1, ordering: .relaxed) }
            }
        }
        #expect(tally.failures.load(ordering: .relaxed) == 0, "a save that has returned is visible")
        store.finishCheckpoint()
        sample.people[row] = .init(name: "0", age: Int64(threads * count), group: 1)
        try sample.check(store.snapshot(), sample.people)
        #expect(store.statistics.checkpoints > before.checkpoints)
        try store.close()
        #expect(try StoreVerification.verify(path: path).isSound)
        try sample.reopen(path: path)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `Threads that write without a pause let another handle in`() throws {
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) { $0.lockTimeout = .seconds(30) }
        let store = sample.store, other = try LogStore.open(path: path, options: sample.options)
        let tally = Tally()
        Self.onThreads(5) { thread in
            guard thread == 4 else {
                var number: UInt8 = 0
                while !tally.isDone.load(ordering: .relaxed) {
                    number &+= 1
                    if (try? store.write { try $0.setSystemValue(100 + UInt64(thread), [number]) }) == nil { tally.failures.add(1, ordering: .relaxed) }
                }
                return
            }
            for number in 0..<10 {
                if (try? other.write { try $0.setSystemValue(200, [UInt8(number)]) }) == nil { tally.failures.add(1, ordering: .relaxed) }
            }
            tally.isDone.store(true, ordering: .relaxed)
        }
        #expect(tally.failures.load(ordering: .relaxed) == 0)
        #expect(try store.refresh().unsafeSystemValue(200).map { Array($0) } == [9])
    }
}
