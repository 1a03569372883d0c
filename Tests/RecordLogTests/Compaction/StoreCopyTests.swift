import Foundation
import Testing

@testable import RecordLog

@Suite struct StoreCopyTests {
    private static let other = "copy.heartwood"

    private func sample(
        _ disk: any FileSystem = MemoryFileSystem(), path: String = SampleStore.path, count: Int = 30, name: String = "p"
    ) throws -> SampleStore {
        let sample = try SampleStore(fileSystem: disk, path: path) { $0.segmentShift = 16 }
        for number in 0..<count {
            let picture = number == 3 ? SampleStore.Picture(fill: 7, count: 9000) : nil
            try sample.insert(.init(name: "\(name) \(number)", age: Int64(number), group: UInt64(number % 4), picture: picture))
        }
        try sample.store.write { _ = try $0.delete(sample.reference(2)) }
        sample.people[2] = nil
        return sample
    }

    private func options(_ disk: any FileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = disk
        options.compaction = nil
        return options
    }

    private func open(_ disk: any FileSystem, _ path: String) throws -> LogStore { try LogStore.open(path: path, options: options(disk)) }

    /// The rows of a store, which must be sound; nil if there is none.
    private func contents(_ disk: any FileSystem, _ path: String) throws -> [UInt64: SampleStore.Person]? {
        guard try disk.identity(of: path) != nil else { return nil }
        let store = try open(disk, path)
        defer { try? store.close() }
        guard let sample = SampleStore(reading: store) else { return [:] }
        let found = try sample.contents(store.snapshot())
        try sample.check(store.snapshot(), found)
        #expect(try StoreVerification.verify(path: path, fileSystem: disk).isSound)
        return found
    }

    @Test
    func `A copy has the rows and indexes and its own identity`() throws {
        let original = try sample()
        let sequence = original.store.snapshot().sequence, appended = original.store.statistics.bytesAppended
        let rows = try original.store.copy(to: Self.other, as: StoredUUID(words: (7, 8)), options: original.options, systemValues: [8: [1, 2]])
        #expect(rows == 29 && original.store.snapshot().sequence == sequence && original.store.statistics.bytesAppended == appended)
        let copy = try open(original.fileSystem, Self.other)
        #expect(copy.storeID == StoredUUID(words: (7, 8)) && copy.snapshot().sequence == sequence)
        let read = try #require(SampleStore(reading: copy))
        try read.check(copy.snapshot(), original.people)
        #expect(copy.statistics.bytesReplayed == 0, "a checkpoint is there")
        // The two stores are independent.
        read.people = original.people
        try read.insert(.init(name: "new", age: 1, group: 1))
        try read.check(copy.snapshot(), read.people)
        try original.check(try original.store.refresh(), original.people)
    }

    @Test
    func `System values can be replaced and others are kept`() throws {
        let original = try sample()
        try original.store.write {
            try $0.setSystemValue(8, [9, 9, 9])
            try $0.setSystemValue(9, [5])
        }
        try original.store.copy(to: Self.other, options: original.options, systemValues: [8: [1, 2]])
        let copy = try open(original.fileSystem, Self.other)
        #expect(try copy.snapshot().unsafeSystemValue(8).map(Array.init) == [1, 2] && copy.snapshot().unsafeSystemValue(9).map(Array.init) == [5])
        #expect(copy.storeID == original.store.storeID)
        #expect(try StoreVerification.verify(path: Self.other, fileSystem: original.fileSystem).isSound)
    }

    @Test
    func `A store in memory or an empty one is copied to another file system`() throws {
        let original = try sample(), disk = MemoryFileSystem()
        try original.store.copy(to: Self.other, options: options(disk))
        #expect(try contents(disk, Self.other) == original.people)
        let empty = try open(MemoryFileSystem(), SampleStore.path)
        try empty.copy(to: "empty", options: options(disk))
        let copy = try open(disk, "empty")
        #expect(copy.snapshot().sequence == 0 && copy.storeID == empty.storeID)
    }

    @Test
    func `An existing file is replaced only on request`() throws {
        let original = try sample(), there = try sample(original.fileSystem, path: Self.other, count: 5, name: "other")
        let error = #expect(throws: StoreError.self) { try original.store.copy(to: Self.other, options: original.options) }
        #expect(error?.code == .exists)
        try there.check(try there.store.refresh(), there.people)
        #expect(try original.fileSystem.identity(of: Self.other + CompactionFile.suffix) == nil)
    }

    @Test
    func `Handles of a replaced store find the copy or an error`() throws {
        let original = try sample(), disk = original.fileSystem
        try original.store.copy(to: Self.other, options: original.options)
        let same = try open(disk, Self.other)
        try original.insert(.init(name: "later", age: 1, group: 1))
        try original.store.copy(to: Self.other, options: original.options, replacing: true)
        let snapshot = try same.follow()
        let read = try #require(SampleStore(reading: same))
        try read.check(snapshot, original.people)
        try original.store.copy(to: Self.other, as: StoredUUID(words: (1, 2)), options: original.options, replacing: true)
        #expect(throws: StoreError.self) { try same.follow() }
        let error = #expect(throws: StoreError.self) { try read.insert(.init(name: "lost", age: 1, group: 1)) }
        #expect(error?.code == .superseded)
        #expect(try contents(disk, Self.other) == original.people)
    }

    /// A handle once followed a restored backup, and used row numbers again that its users knew.
    @Test
    func `No handle goes back in time`() throws {
        let original = try sample(), disk = original.fileSystem
        try original.store.copy(to: Self.other, options: original.options)
        let people = original.people
        try original.insert(.init(name: "later", age: 1, group: 1))
        try disk.rename(Self.other, to: SampleStore.path)
        #expect(try original.store.locate() == .replaced)
        let error = #expect(throws: StoreError.self) { try original.insert(.init(name: "lost", age: 1, group: 1)) }
        #expect(error?.code == .superseded && error?.message.contains("older state") == true)
        #expect(try contents(disk, SampleStore.path) == people)
        try original.check(original.store.snapshot(), original.people)
    }

    /// Wherever the power fails, the destination is unchanged or the whole copy, and the source is unchanged.
    @Test(arguments: [false, true], 1...3 as ClosedRange<UInt64>)
    func `A crash at any operation leaves the old file or the copy`(replaces: Bool, seed: UInt64) throws {
        func prepared() throws -> (SimulatedFileSystem, SampleStore, [UInt64: SampleStore.Person]?) {
            let disk = SimulatedFileSystem(seed: seed)
            let original = try sample(disk, count: 12)
            guard replaces else { return (disk, original, nil) }
            let there = try sample(disk, path: Self.other, count: 4, name: "other")
            try there.store.close()
            return (disk, original, there.people)
        }
        let (whole, original, _) = try prepared()
        let first = whole.operationCount
        try original.store.copy(to: Self.other, as: StoredUUID(words: (1, 2)), options: options(whole), replacing: replaces)
        let operations = whole.operationCount - first
        #expect(operations > 6)
        for operation in 0...operations {
            let (disk, original, before) = try prepared()
            disk.fail(at: disk.operationCount + operation)
            let identity = StoredUUID(words: (1, 2))
            let isDone = (try? original.store.copy(to: Self.other, as: identity, options: options(disk), replacing: replaces)) != nil
            #expect(isDone == (operation == operations))
            let image = disk.afterPowerLoss(seed: seed &* 1000 &+ UInt64(operation))
            let found = try contents(image, Self.other)
            #expect(found == original.people || !isDone && found == before, "operation \(operation), seed \(seed)")
            #expect(try contents(image, SampleStore.path) == original.people)
            // The remains do not stand in the way.
            let again = try open(image, SampleStore.path)
            try again.copy(to: Self.other, options: options(image), replacing: true)
            #expect(try contents(image, Self.other) == original.people)
            #expect(try image.identity(of: Self.other + CompactionFile.suffix) == nil)
        }
    }

    @Test
    func `A full disk harms neither store`() throws {
        let disk = SimulatedFileSystem()
        let original = try sample(disk, count: 12), there = try sample(disk, path: Self.other, count: 4, name: "other")
        let first = disk.operationCount
        try original.store.copy(to: "third", options: options(disk))
        for operation in 0..<(disk.operationCount - first) {
            disk.fail(at: disk.operationCount + operation, .once(ENOSPC))
            let failed = (try? original.store.copy(to: Self.other, options: options(disk), replacing: true)) == nil
            disk.heal()
            if failed, try disk.identity(of: Self.other) == there.store.snapshot().file.storage.identity {
                #expect(try there.contents(try there.store.refresh()) == there.people)
                #expect(try disk.identity(of: Self.other + CompactionFile.suffix) == nil)
            } else {
                #expect(try contents(disk, Self.other) == original.people)
                break
            }
        }
        try original.check(try original.store.refresh(), original.people)
    }

    @Test
    func `Damage and cancelling leave the destination as it was`() throws {
        let memory = MemoryFileSystem()
        let original = try sample(memory), there = try sample(memory, path: Self.other, count: 5, name: "other")
        var error = #expect(throws: StoreError.self) {
            try original.store.copy(to: Self.other, options: original.options, replacing: true) { _ in false }
        }
        #expect(error?.code == .cancelled)
        try original.store.close()
        var bytes = try #require(memory.contents(of: SampleStore.path))
        let at = try #require(bytes.firstRange(of: Array("p 17".utf8))?.lowerBound)
        bytes[at] ^= 1
        memory.setContents(of: SampleStore.path, to: bytes)
        var reading = options(memory)
        reading.isReadOnly = true
        let damaged = try LogStore.open(path: SampleStore.path, options: reading)
        error = #expect(throws: StoreError.self) { try damaged.copy(to: Self.other, options: options(memory), replacing: true) }
        #expect(error?.code == .corrupt)
        try there.check(try there.store.refresh(), there.people)
        #expect(try memory.identity(of: Self.other + CompactionFile.suffix) == nil)
    }

    @Test
    func `A removed or replaced store can be copied out`() throws {
        let original = try sample(), disk = original.fileSystem
        try disk.remove(SampleStore.path)
        try original.store.copy(to: Self.other, options: original.options)
        #expect(try contents(disk, Self.other) == original.people)
        _ = try sample(disk, count: 1)
        try original.store.copy(to: "third", options: original.options)
        #expect(try contents(disk, "third") == original.people)
    }
}
