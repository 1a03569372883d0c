import Testing

@testable import RecordLog

@Suite struct StoreExchangeTests {
    private static let new = SampleStore.path + ".migrating"

    private func options(_ disk: any FileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = disk
        options.compaction = nil
        return options
    }

    private func sample(_ disk: any FileSystem) throws -> [UInt64: SampleStore.Person] {
        let sample = try SampleStore(fileSystem: disk) { $0.segmentShift = 16 }
        for number in 0..<12 { try sample.insert(.init(name: "p \(number)", age: Int64(number), group: UInt64(number % 4))) }
        try sample.store.close()
        return sample.people
    }

    /// A store with one more row replaces the one at the path, as a migration makes it: a copy, then commits that are synced only at the end.
    private func exchange(_ disk: any FileSystem) throws -> [UInt64: SampleStore.Person] {
        var people: [UInt64: SampleStore.Person] = [:]
        try LogStore.exchange(path: SampleStore.path, options: options(disk)) {
            try? disk.remove(Self.new)
            var reading = options(disk)
            reading.isReadOnly = true
            let old = try LogStore.open(path: SampleStore.path, options: reading)
            try old.copy(to: Self.new, as: StoredUUID(words: (1, 2)), options: options(disk))
            try old.close()
            var relaxed = options(disk)
            relaxed.durability = .relaxed
            let log = try LogStore.open(path: Self.new, options: relaxed)
            let made = try #require(SampleStore(reading: log))
            made.people = try made.contents(log.snapshot())
            try made.insert(.init(name: "new", age: 1, group: 1))
            people = made.people
            try log.sync()
            try log.close()
            return Self.new
        }
        return people
    }

    private func contents(_ disk: any FileSystem) throws -> [UInt64: SampleStore.Person] {
        let store = try LogStore.open(path: SampleStore.path, options: options(disk))
        defer { try? store.close() }
        let sample = try #require(SampleStore(reading: store))
        let found = try sample.contents(store.snapshot())
        try sample.check(store.snapshot(), found)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: disk).isSound)
        return found
    }

    /// Wherever the power fails, the path has the old store or the whole new one, and the remains do not harm the next exchange.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `A crash at any operation leaves the old store or the new one`(seed: UInt64) throws {
        let whole = SimulatedFileSystem(seed: seed)
        let before = try sample(whole), first = whole.operationCount
        let after = try exchange(whole), operations = whole.operationCount - first
        #expect(operations > 6 && after.count == before.count + 1)
        for operation in 0...operations {
            let disk = SimulatedFileSystem(seed: seed)
            _ = try sample(disk)
            disk.fail(at: disk.operationCount + operation)
            let isDone = (try? exchange(disk)) != nil
            let image = disk.afterPowerLoss(seed: seed &* 1000 &+ UInt64(operation))
            let found = try contents(image)
            #expect(found == after || !isDone && found == before, "operation \(operation)")
            if found == before { #expect(try exchange(image) == after) }
            #expect(try contents(image) == after || found == after)
        }
    }
}
