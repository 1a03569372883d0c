import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct HistoryWindowTests {
    /// A store of 40 commits by several authors, with the state after each.
    private func made(checkpoints: Bool, compactAt: Int? = nil) throws -> (SampleStore, states: [UInt64: [UInt64: SampleStore.Person]]) {
        var random = SeededGenerator(seed: 5)
        let sample = try SampleStore(fileSystem: SimulatedFileSystem())
        var states: [UInt64: [UInt64: SampleStore.Person]] = [sample.store.snapshot().sequence: [:]]
        for number in 0..<40 {
            var people = sample.people
            try sample.store.write(author: "author \(number)") { transaction in
                for _ in 0..<3 {
                    let row = try transaction.newRow(in: sample.table.id)
                    people[row] = SampleStore.Person.draw(.short, &random)
                    try sample.put(transaction, row, people[row]!)
                }
                for row in people.keys.sorted().filter({ $0 % 7 == UInt64(number % 7) }).prefix(2) {
                    #expect(try transaction.delete(sample.reference(row)))
                    people[row] = nil
                }
                if let row = people.keys.min() {
                    people[row] = SampleStore.Person.draw(.short, &random)
                    try sample.put(transaction, row, people[row]!)
                }
            }
            sample.people = people
            states[sample.store.snapshot().sequence] = people
            if checkpoints, number % 10 == 5 { try sample.store.checkpoint() }
            if number == compactAt { try sample.store.compact() }
        }
        return (sample, states)
    }

    private func commits(_ store: LogStore, _ numbers: ClosedRange<UInt64>) throws -> [StoreInspection.Commit?] {
        try numbers.map { try store.commit($0) }
    }

    private func expectSame(_ new: StoreInspection.Commit?, _ old: StoreInspection.Commit?) {
        #expect(new != nil && new?.author == old?.author && new?.timestamp == old?.timestamp && new?.rows == old?.rows)
        #expect(new?.changes.map(\.reference) == old?.changes.map(\.reference))
        #expect(new?.changes.map(\.isDeletion) == old?.changes.map(\.isDeletion))
    }

    /// The state at a commit of a file, by following the log up to there.
    private func state(_ sample: SampleStore, as number: UInt64) throws -> [UInt64: SampleStore.Person] {
        let newest = sample.store.snapshot()
        let replay = Replay(
            file: newest.file, from: .empty(newest.file, newest.counters), at: FileFormat.dataStart, options: sample.options)
        try replay.run(limit: newest.end, publishedEnd: newest.end, wholeEnd: newest.end, through: number)
        return try sample.contents(replay.snapshotAsIs(counters: newest.counters))
    }

    @Test(arguments: [false, true], [1, 3, 12, 39])
    func `The newest commits are kept`(checkpoints: Bool, count: Int) throws {
        let (sample, states) = try made(checkpoints: checkpoints)
        let newest = sample.store.snapshot().sequence, first = newest - UInt64(count) + 1
        let before = try commits(sample.store, first...newest)
        let report = try sample.store.compact(keeping: .commits(count))
        #expect(report.commits == UInt64(count))
        for (new, old) in zip(try commits(sample.store, first...newest), before) { expectSame(new, old) }
        // The rows at the window's beginning are one commit, which includes rows deleted since.
        #expect(try state(sample, as: first - 1) == states[first - 1])
        #expect(try state(sample, as: (first + newest) / 2) == states[(first + newest) / 2])
        #expect(try sample.store.commit(first - 2) == nil)
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try OnlineCompactionTests.sound(sample))
        try sample.insert(.init(name: "after", age: 1, group: 1))
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `Commits since a given time are kept`() throws {
        let (sample, _) = try made(checkpoints: true)
        let newest = sample.store.snapshot().sequence
        let time = try #require(try sample.store.commit(newest - 9)).timestamp
        let before = try commits(sample.store, newest - 9...newest)
        #expect(try sample.store.compact(keeping: .since(time)).commits == 10)
        for (new, old) in zip(try commits(sample.store, newest - 9...newest), before) { expectSame(new, old) }
        #expect(try sample.store.compact(keeping: .since(time + 1)).commits == 9)
        #expect(try sample.store.compact(keeping: .since(.max)).commits == 0)
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try OnlineCompactionTests.sound(sample))
    }

    /// All commits of the file are kept; of a compacted file those since the commit of its rows.
    @Test(arguments: [nil, 20] as [Int?])
    func `A window that reaches back further than the file keeps all of it`(compactAt: Int?) throws {
        let (sample, states) = try made(checkpoints: true, compactAt: compactAt)
        let newest = sample.store.snapshot().sequence
        let first = try #require(try (1...newest).first { try sample.store.commit($0) != nil })
        let before = try commits(sample.store, first...newest)
        #expect((first == 1) == (compactAt == nil))
        let report = try sample.store.compact(keeping: .commits(1000))
        #expect(report.commits == newest - first + 1)
        for (new, old) in zip(try commits(sample.store, first...newest), before) { expectSame(new, old) }
        for (number, people) in states where number >= first { #expect(try state(sample, as: number) == people) }
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try OnlineCompactionTests.sound(sample))
        // Row numbers are not used twice.
        let row = try sample.insert(.init(name: "after", age: 1, group: 1))
        #expect(row == 121)
    }

    /// Tables and system values that are added and dropped within the window.
    @Test
    func `Tables and values dropped within the window exist until then`() throws {
        let sample = try SampleStore()
        let table = try sample.store.write { transaction in
            try transaction.setSystemValue(30, [1])
            return try transaction.defineTable(name: "T", columns: [("a", .int64)])
        }
        let builder = RowBuilder()
        for value in 0..<5 as Range<Int64> {
            try sample.store.write { transaction in
                builder.begin(table.currentLayout)
                builder.set(0, int64: value)
                let row = try transaction.newRow(in: table.id)
                try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
            }
        }
        let full = sample.store.snapshot().sequence
        try sample.store.write { try $0.setSystemValue(30, nil) }
        try sample.store.checkpoint()
        try sample.store.write { try $0.setSystemValue(30, [2]) }
        try sample.store.write { try $0.dropTable(table.id) }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let newest = sample.store.snapshot().sequence
        try sample.store.compact(keeping: .commits(Int(newest - full)))
        let file = sample.store.snapshot()
        let replay = Replay(file: file.file, from: .empty(file.file, file.counters), at: FileFormat.dataStart, options: sample.options)
        try replay.run(limit: file.end, publishedEnd: file.end, wholeEnd: file.end, through: full)
        let then = replay.snapshotAsIs(counters: file.counters)
        #expect(then.sequence == full && then.rowCount(table.id) == 5)
        #expect(try then.unsafeSystemValue(30).map { Array($0) } == [1])
        #expect(try file.unsafeSystemValue(30).map { Array($0) } == [2] && file.catalog.table(table.id) == nil)
        #expect(try OnlineCompactionTests.sound(sample))
    }

    /// Damage in the kept part is reported, and the store stays as it is.
    @Test
    func `Damage in the window fails the compaction`() throws {
        let (sample, _) = try made(checkpoints: false)
        let newest = sample.store.snapshot().sequence
        let offset = try #require(try sample.store.commit(newest - 20)).offset
        try sample.store.checkpoint()
        try sample.reopen()
        let file = try sample.fileSystem.open(SampleStore.path, .readWrite)
        try FileCreation.write([0xFF, 0xFF][...], to: file, at: offset + 40)
        let error = #expect(throws: StoreError.self) { try sample.store.compact(keeping: .commits(30)) }
        #expect(error?.code == .corrupt)
        #expect(try OnlineCompactionTests.noFileIsLeft(sample))
    }
}
