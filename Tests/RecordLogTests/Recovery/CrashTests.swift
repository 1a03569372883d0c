import Foundation
import Testing

@testable import RecordLog

@Suite struct CrashTests {
    /// Makes commits, a checkpoint, deletions and a compaction; notes each state as it is acknowledged.
    private final class Workload {
        var states: [[UInt64: SampleStore.Person]] = [[:]]
        var acknowledged = 0

        func run(_ fileSystem: SimulatedFileSystem, _ durability: Durability, maps: Bool = true) throws {
            let sample = try SampleStore(fileSystem: fileSystem) {
                $0.durability = durability
                $0.usesMemoryMapping = maps
                $0.segmentShift = 16
                $0.zeroAheadBytes = 4096
                // A commit with a large value is then written in several pieces.
                $0.flushSize = 2000
            }
            for number in 0..<4 {
                try insert(sample, number)
                if number == 1 { try sample.store.checkpoint() }
            }
            states.append(sample.people.filter { $0.key != 2 })
            try sample.store.write { _ = try $0.delete(sample.reference(2)) }
            sample.people[2] = nil
            acknowledged = states.count - 1
            _ = try sample.store.compact()
            try insert(sample, 7)
            try sample.store.close()
        }

        private func insert(_ sample: SampleStore, _ number: Int) throws {
            let picture = [1: 1100, 3: 9000, 7: 3000][number].map { SampleStore.Picture(fill: UInt8(number), count: $0) }
            let person = SampleStore.Person(name: String(repeating: "p", count: number * 90), age: Int64(number), group: 1, picture: picture)
            let row = sample.store.snapshot().state(sample.table.id)?.nextRow ?? 1
            states.append(sample.people.merging([row: person]) { $1 })
            try sample.insert(person)
            acknowledged = states.count - 1
        }
    }

    private func contents(_ image: SimulatedFileSystem, maps: Bool, _ message: String) throws -> [UInt64: SampleStore.Person]? {
        guard try image.identity(of: SampleStore.path) != nil else { return nil }
        let sample = try SampleStore(fileSystem: image) {
            $0.segmentShift = 16
            $0.usesMemoryMapping = maps
        }
        let found = try sample.contents(sample.store.snapshot())
        try sample.check(sample.store.snapshot(), found)
        // The store accepts writes and is sound.
        sample.people = found
        try sample.insert(.init(name: "after", age: 1, group: 1))
        try sample.store.close()
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: image, usesMemoryMapping: maps)
        #expect(report.isSound, "\(message): \(report)")
        return found
    }

    /// A crash at any operation leaves the last acknowledged state or a later one; with relaxed durability any state. Files of even seeds are read
    /// instead of mapped.
    @Test(arguments: [Durability.full, .relaxed], 1...3 as ClosedRange<UInt64>)
    func `Acknowledged commits survive a crash at any operation`(durability: Durability, seed: UInt64) throws {
        let whole = SimulatedFileSystem()
        let maps = seed % 2 == 1
        try Workload().run(whole, durability, maps: maps)
        let operations = whole.operations.count
        #expect(operations > 30)
        for operation in 0...operations {
            let fileSystem = SimulatedFileSystem()
            fileSystem.fail(at: operation)
            let workload = Workload()
            do {
                try workload.run(fileSystem, durability, maps: maps)
            } catch is StoreError {}
            let image = fileSystem.afterPowerLoss(seed: seed &* 1000 &+ UInt64(operation))
            let message = "\(durability), seed \(seed), operation \(operation), \(workload.acknowledged) acknowledged"
            do {
                let found = try contents(image, maps: maps, message)
                let legal = durability == .full ? workload.states[workload.acknowledged...] : workload.states[...]
                #expect(found.map { legal.contains($0) } ?? (workload.acknowledged == 0), "\(message): \(found?.count ?? -1) rows")
            } catch {
                Issue.record("\(message): \(error)")
            }
        }
    }

    /// After a failed write or sync the handle writes nothing more, and a new handle finds the acknowledged commits.
    @Test
    func `A failed write or sync poisons the handle`() throws {
        let whole = SimulatedFileSystem()
        try Workload().run(whole, .full)
        for operation in whole.operations.indices {
            let fileSystem = SimulatedFileSystem()
            fileSystem.fail(at: operation, .once(EIO))
            let workload = Workload()
            do {
                try workload.run(fileSystem, .full)
            } catch is StoreError {}
            guard try fileSystem.identity(of: SampleStore.path) != nil else { continue }
            do {
                let sample = try SampleStore(fileSystem: fileSystem) { $0.segmentShift = 16 }
                #expect(workload.states[workload.acknowledged...].contains(try sample.contents(sample.store.snapshot())), "operation \(operation)")
            } catch {
                Issue.record("operation \(operation): \(error)")
            }
        }
    }

    @Test
    func `A poisoned handle's error has a remedy`() throws {
        let fileSystem = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: fileSystem)
        fileSystem.fail(at: fileSystem.operations.count, .once(EIO))
        let failed = #expect(throws: StoreError.self) { try sample.insert(.init(name: "a", age: 1, group: 1)) }
        #expect(failed?.code == .io)
        let poisoned = #expect(throws: StoreError.self) { try sample.insert(.init(name: "b", age: 1, group: 1)) }
        #expect(poisoned?.code == .poisoned && poisoned?.remedy.contains("open it again") == true)
    }

    /// A full disk stops only a save: earlier saves are whole, and saving works again once there is room.
    @Test
    func `A full disk leaves the last commit whole`() throws {
        let fileSystem = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: fileSystem)
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        fileSystem.fail(at: fileSystem.operations.count, .once(ENOSPC))
        let error = #expect(throws: StoreError.self) { try sample.insert(.init(name: "refused", age: 2, group: 1)) }
        #expect(error?.code == .noSpace)
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.insert(.init(name: "after", age: 3, group: 1))
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// A copy-on-write file system may have room for a commit and none for the superblock that names it: the commit succeeds, and its superblock is
    /// written with the next one.
    @Test(arguments: [Durability.full, .relaxed])
    func `A disk without room for a superblock refuses no commit`(_ durability: Durability) throws {
        var waited = 0
        for room in stride(from: UInt64(0), to: 3000, by: 40) {
            let fileSystem = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: fileSystem) {
                $0.durability = durability
                $0.zeroAheadBytes = 0
            }
            try sample.insert(.init(name: "kept", age: 1, group: 1))
            fileSystem.limitWrites(to: room)
            for number in 0..<5 {
                do {
                    try sample.insert(.init(name: "perhaps \(number)", age: 2, group: 1))
                } catch {
                    #expect((error as? StoreError)?.code == .noSpace, "room \(room)")
                }
                #expect(sample.store.writer(\.poison) == nil)
                waited += sample.store.writer(\.isSuperblockPending) ? 1 : 0
                try sample.check(sample.store.snapshot(), sample.people)
            }
            #expect(throws: StoreError.self) { try sample.store.checkpoint() }
            #expect(sample.store.writer(\.poison) == nil)
            // The state that is readable without further writes.
            if durability == .full {
                let left = try SampleStore(fileSystem: fileSystem.afterPowerLoss(seed: room))
                #expect(try left.contents(left.store.snapshot()) == sample.people, "room \(room)")
            }
            fileSystem.limitWrites(to: nil)
            try sample.store.sync()
            #expect(!sample.store.writer(\.isSuperblockPending))
            try sample.insert(.init(name: "after", age: 3, group: 1))
            try sample.store.checkpoint()
            try sample.reopenAfterCrash()
            try sample.check(sample.store.snapshot(), sample.people)
        }
        #expect(waited > 0)
    }

    /// Another handle finds such a commit in the log, without a superblock that says whether it is durable.
    @Test
    func `A sync covers a commit whose superblock another handle could not write`() throws {
        var waited = 0
        for room in stride(from: UInt64(0), to: 1500, by: 40) {
            let fileSystem = SimulatedFileSystem()
            let first = try SampleStore(fileSystem: fileSystem) {
                $0.durability = .relaxed
                $0.zeroAheadBytes = 0
            }
            try first.insert(.init(name: "kept", age: 1, group: 1))
            try first.store.sync()
            let second = try SampleStore(fileSystem: fileSystem) { $0.durability = .relaxed }
            fileSystem.limitWrites(to: room)
            _ = try? first.insert(.init(name: "perhaps", age: 2, group: 1))
            guard first.store.writer(\.isSuperblockPending) else { continue }
            waited += 1
            fileSystem.limitWrites(to: nil)
            try second.store.sync()
            for seed in 0..<10 as Range<UInt64> {
                let left = try SampleStore(fileSystem: fileSystem.afterPowerLoss(seed: seed))
                #expect(try left.contents(left.store.snapshot()) == first.people, "room \(room), seed \(seed)")
            }
        }
        #expect(waited > 0)
    }

    /// The state that a crash left can be read on a full disk, and written to once there is room.
    @Test(arguments: [Durability.full, .relaxed])
    func `A store opens on a disk without room for recovery's writes`(_ durability: Durability) throws {
        let fileSystem = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: fileSystem) { $0.durability = durability }
        for number in 0..<3 { try sample.insert(.init(name: "person \(number)", age: 1, group: 1)) }
        // The state after a process dies between a commit and its superblock.
        let superblocks = Int(FileFormat.superblockOffsets[0])..<Int(FileFormat.superblockOffsets[1]) + Superblock.Layout.size
        let before = try #require(fileSystem.contents(of: SampleStore.path))[superblocks]
        try sample.insert(.init(name: "unpublished", age: 1, group: 1))
        let storage = try fileSystem.open(SampleStore.path, .readWrite)
        try FileCreation.write(before, to: storage, at: UInt64(superblocks.lowerBound))

        fileSystem.limitWrites(to: 0)
        let left = try SampleStore(fileSystem: fileSystem) { $0.durability = durability }
        #expect(try left.contents(left.store.snapshot()) == sample.people)
        #expect(try left.contents(left.store.refresh()) == sample.people)
        let error = #expect(throws: StoreError.self) { try left.insert(.init(name: "refused", age: 1, group: 1)) }
        #expect(error?.code == .noSpace)
        fileSystem.limitWrites(to: nil)
        left.people = sample.people
        try left.insert(.init(name: "after", age: 1, group: 1))
        try left.store.sync()
        let found = try SampleStore(fileSystem: fileSystem.afterPowerLoss(seed: 1))
        #expect(try found.contents(found.store.snapshot()) == left.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: fileSystem).isSound)
    }

    @Test
    func `A save is one synced append and one superblock`() throws {
        let fileSystem = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: fileSystem)
        try sample.insert(.init(name: "first", age: 1, group: 1))
        let operations = fileSystem.operations.count, before = sample.store.statistics
        try sample.insert(.init(name: "second", age: 2, group: 1))
        let after = sample.store.statistics
        #expect(fileSystem.operations[operations...] == [.syncedWrite, .write])
        #expect(after.syncs - before.syncs == 1 && after.framesAppended - before.framesAppended == 1)
        #expect(after.bytesAppended - before.bytesAppended <= 256)
    }
}

@Suite struct ProcessTests {
    @Test(arguments: [true, false])
    func `Two handles see each other's commits`(maps: Bool) throws {
        let sample = try SampleStore { $0.usesMemoryMapping = maps }
        let other = try SampleStore(fileSystem: sample.fileSystem) { $0.usesMemoryMapping = maps }
        try sample.insert(.init(name: "mine", age: 1, group: 1))
        #expect(try other.contents(try other.store.refresh()) == sample.people)
        other.people = sample.people
        try other.insert(.init(name: "theirs", age: 2, group: 2))
        sample.people = other.people
        try sample.insert(.init(name: "again", age: 3, group: 3))
        try sample.check(sample.store.snapshot(), sample.people)
        // After a compaction the other handle moves to the new file.
        _ = try sample.store.compact()
        let old = other.store.snapshot()
        try sample.check(try other.store.refresh(), sample.people)
        #expect(try other.contents(old) == other.people)
        other.people = sample.people
        try other.insert(.init(name: "in the new file", age: 4, group: 4))
        try sample.check(try sample.store.refresh(), other.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    /// A writing handle that followed a compaction by `refresh`, which takes no lock, once recovered the new file as a writer does: it cut off the
    /// commit that another process was appending.
    @Test(arguments: [true, false])
    func `Following a compaction without the lock writes nothing`(maps: Bool) throws {
        let sample = try SampleStore { $0.usesMemoryMapping = maps }
        let other = try SampleStore(fileSystem: sample.fileSystem)
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        _ = try other.store.compact()
        // The part that another process has appended so far, without its footer.
        let file = try sample.fileSystem.open(SampleStore.path, .readWrite)
        try FileCreation.write([UInt8](repeating: 7, count: 300)[...], to: file, at: other.store.log.end)
        let fileSystem = sample.fileSystem as! MemoryFileSystem
        let before = fileSystem.contents(of: SampleStore.path)
        #expect(try sample.contents(try sample.store.refresh()) == sample.people)
        #expect(fileSystem.contents(of: SampleStore.path) == before)
        // With the lock held it is a torn tail and is cut off.
        try sample.insert(.init(name: "after", age: 2, group: 2))
        #expect(try other.contents(try other.store.refresh()) == sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: fileSystem).isSound)
    }

    /// The first writer to a compacted file makes its name durable, whichever way the handle moved to the file.
    @Test
    func `A handle that followed without the lock settles the file`() throws {
        func compact(failingAt operation: Int?) throws -> (sample: SampleStore, fileSystem: SimulatedFileSystem) {
            let fileSystem = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: fileSystem), other = try SampleStore(fileSystem: fileSystem)
            try sample.insert(.init(name: "kept", age: 1, group: 1))
            if let operation { fileSystem.fail(at: operation, .once(EIO)) }
            do { _ = try other.store.compact() } catch { #expect(operation != nil) }
            return (sample, fileSystem)
        }
        let naming = try #require(try compact(failingAt: nil).fileSystem.operations.lastIndex(of: .syncDirectory))
        for seed in 1...8 as ClosedRange<UInt64> {
            let (sample, fileSystem) = try compact(failingAt: naming)
            _ = try sample.store.refresh()
            let before = fileSystem.operations.count
            try sample.insert(.init(name: "acknowledged", age: 2, group: 2))
            #expect(fileSystem.operations[before...].first == .syncDirectory)
            let image = try SampleStore(fileSystem: fileSystem.afterPowerLoss(seed: seed))
            #expect(try image.contents(image.store.snapshot()) == sample.people, "seed \(seed)")
        }
    }

    @Test
    func `A writer waits for another and then gives up`() throws {
        let sample = try SampleStore()
        let other = try SampleStore(fileSystem: sample.fileSystem) { $0.lockTimeout = .milliseconds(20) }
        try sample.store.write { _ in
            let error = #expect(throws: StoreError.self) { try other.insert(.init(name: "x", age: 1, group: 1)) }
            #expect(error?.code == .locked)
        }
        try other.insert(.init(name: "x", age: 1, group: 1))
    }

    @Test
    func `A cancelled compaction changes nothing`() throws {
        let sample = try SampleStore()
        try sample.store.write { transaction in
            for _ in 0..<10_000 {
                let row = try transaction.newRow(in: sample.table.id)
                sample.people[row] = .init(name: "p", age: 1, group: 1)
                try sample.put(transaction, row, sample.people[row]!)
            }
        }
        let error = #expect(throws: StoreError.self) { try sample.store.compact { _ in false } }
        #expect(error?.code == .cancelled)
        #expect(try sample.fileSystem.identity(of: SampleStore.path + ".compacting") == nil)
        try sample.insert(.init(name: "after", age: 2, group: 2))
        #expect(try sample.contents(sample.store.snapshot()) == sample.people)
    }
}
