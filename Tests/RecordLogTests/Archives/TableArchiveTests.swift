import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct TableArchiveTests {
    private static let path = "archive.hwb"

    /// The archive of a transaction over a store.
    private func archive(_ sample: SampleStore, _ change: (Transaction) throws -> Void = { _ in }) throws -> [UInt8] {
        var options = StoreOptions()
        options.fileSystem = MemoryFileSystem()
        let file = ArchiveFile(path: Self.path, options: options)
        struct Done: Error {}
        do {
            try sample.store.write { transaction in
                try change(transaction)
                try file.withLock(isCreating: true) { try file.replace { try TableArchiveWriter.write(transaction, to: $0) } }
                throw Done()
            }
        } catch is Done {}
        return try #require(try file.read())
    }

    private func apply(_ bytes: [UInt8], to sample: SampleStore) throws {
        let reader = try TableArchiveReader(bytes, path: Self.path)
        try sample.store.write { try reader.apply(to: $0) }
    }

    /// A sample with the table to which its references lead.
    private func makeSample() throws -> SampleStore {
        let sample = try SampleStore { $0.segmentShift = 16 }
        try sample.store.write { transaction in
            for number in 2...9 { _ = try transaction.defineTable(name: "other \(number)", columns: [("name", .text)]) }
        }
        return sample
    }

    private func filled(_ random: inout SeededGenerator, count: Int = 60) throws -> SampleStore {
        let sample = try makeSample()
        for number in 0..<count {
            try sample.insert(.init(
                name: number % 7 == 0 ? nil : "person \(number)", age: Int64(number % 9), group: UInt64(number % 5 + 1),
                picture: number % 3 == 0 ? .random(&random) : nil))
        }
        for row in [3, 17, UInt64(count)] {
            try sample.store.write { _ = try $0.delete(sample.reference(row)) }
            sample.people[row] = nil
        }
        try sample.store.write { try $0.setSystemValue(20, [1, 2, 3]) }
        return sample
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `An archive makes the same store`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try filled(&random)
        if seed == 2 { try sample.store.checkpoint() }
        // It has pending changes of every kind: a changed row, a deleted and a new one, and one that was inserted and deleted.
        var people = sample.people
        let new = SampleStore.Person(name: "new", age: 1, group: 2, picture: .init(fill: 3, count: 5000))
        let bytes = try archive(sample) { transaction in
            people[5]?.name = "changed"
            try sample.put(transaction, 5, people[5]!)
            _ = try transaction.delete(sample.reference(8))
            people[8] = nil
            let row = try transaction.newRow(in: sample.table.id)
            try sample.put(transaction, row, new)
            people[row] = new
            let gone = try transaction.newRow(in: sample.table.id)
            try sample.put(transaction, gone, new)
            _ = try transaction.delete(sample.reference(gone))
        }
        let other = try makeSample()
        try apply(bytes, to: other)
        try other.check(other.store.snapshot(), people)
        #expect(other.store.snapshot().rowLimit(other.table.id) == 63, "no number is given again")
        #expect(try other.store.snapshot().unsafeSystemValue(20).map { Array($0) } == [1, 2, 3])
        // Applying the same archive again writes nothing.
        let sequence = other.store.snapshot().sequence
        try apply(bytes, to: other)
        #expect(other.store.snapshot().sequence == sequence)
        // Another state over that one.
        try apply(try archive(sample), to: other)
        try other.check(other.store.snapshot(), sample.people)
        other.people = sample.people
        try other.insert(.init(name: "after", age: 1, group: 1))
        try other.check(other.store.snapshot(), other.people)
        #expect(other.people[63] != nil)
    }

    @Test
    func `A store made from an archive can be compacted`() throws {
        var random = SeededGenerator(seed: 5)
        let sample = try filled(&random)
        let other = try makeSample()
        try apply(try archive(sample), to: other)
        _ = try other.store.compact()
        try other.check(other.store.snapshot(), sample.people)
    }

    /// Contents that no writer makes, in valid blocks, give an error or some store, never a trap.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `Hostile contents are refused or read`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try filled(&random, count: 8)
        let bytes = try archive(sample)
        let other = try makeSample()
        var refused = 0
        for round in 0..<120 {
            var hostile = bytes
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: 0..<hostile.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: hostile[index] = UInt8.random(in: 0...255, using: &random)
                case 1: hostile[index] = 0xFF
                case 2: hostile.removeSubrange(index..<min(hostile.count, index + 3))
                default: hostile.insert(contentsOf: [0, 0xFF], at: index)
                }
            }
            do {
                let reader = try TableArchiveReader(hostile, path: Self.path)
                struct Done: Error {}
                do {
                    try other.store.write {
                        try reader.apply(to: $0)
                        throw Done()
                    }
                } catch is Done {}
            } catch let error as StoreError {
                refused += 1
                #expect(!error.remedy.isEmpty, "seed \(seed), round \(round)")
            }
        }
        #expect(refused > 30, "seed \(seed)")
        try other.check(other.store.snapshot(), [:])
    }

    @Test
    func `An archive of other tables is refused`() throws {
        var random = SeededGenerator(seed: 9)
        let bytes = try archive(try filled(&random, count: 4))
        let store = try LogStore.open(path: "empty.heartwood", options: {
            var options = StoreOptions()
            options.fileSystem = MemoryFileSystem()
            return options
        }())
        let reader = try TableArchiveReader(bytes, path: Self.path)
        let error = #expect(throws: StoreError.self) { try store.write { try reader.apply(to: $0) } }
        #expect(error?.code == .schema)
    }
}
