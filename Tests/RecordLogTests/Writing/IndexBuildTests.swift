import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Indexes that are built beside writers.
@Suite struct IndexBuildTests {
    private static func definition(_ sample: SampleStore, _ number: Int) -> IndexDefinition {
        let age = IndexPart(column: SampleStore.age, ascending: number % 2 == 0)
        return IndexDefinition(
            id: IndexID(rawValue: 0), table: sample.table.id, name: "built", parts: number % 3 == 0 ? [] : [age],
            extractorName: number % 3 == 0 ? SampleStore.pairsExtractor : nil)
    }

    private static func sound(_ sample: SampleStore) throws -> Bool {
        let report = try StoreVerification.verify(
            path: SampleStore.path, fileSystem: sample.fileSystem, makeExtractor: { SampleStore.extractors[$0] })
        if !report.isSound { Issue.record("\(report.problems)") }
        return report.isSound
    }

    /// Commits come before each round, and a last few before the transaction that has the index.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `An index that is built beside commits has the entries of their rows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore { $0.indexMemory = seed % 4 == 0 ? 500 : 1 << 20 }
        for _ in 0..<20 { try RandomWorkloadTests.commit(sample, &random) }
        let definition = Self.definition(sample, Int(seed))
        var build = try IndexBuild(of: definition, in: sample.store, over: sample.store.snapshot())
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            for _ in 0..<5 { try RandomWorkloadTests.commit(sample, &random) }
            if seed % 5 == 0 { try sample.store.checkpoint() }
            try build.follow(to: sample.store.snapshot())
        }
        for _ in 0..<3 { try RandomWorkloadTests.commit(sample, &random) }
        try sample.store.write { transaction in
            try build.follow(to: transaction.base)
            _ = try transaction.defineIndex(definition, with: build.runs)
        }
        for _ in 0..<5 { try RandomWorkloadTests.commit(sample, &random) }
        try sample.check(sample.store.snapshot(), sample.people)
        // As it is in memory, as a replay makes it, and as a checkpoint writes it.
        try sample.reopenAfterCrash()
        #expect(try Self.sound(sample), "seed \(seed)")
        try sample.store.checkpoint()
        #expect(try Self.sound(sample), "seed \(seed)")
    }

    @Test
    func `A compaction in the middle of a build has it begin anew`() throws {
        let sample = try SampleStore()
        for number in 0..<50 { try sample.insert(.init(name: "p \(number)", age: Int64(number), group: 1)) }
        let definition = Self.definition(sample, 1), build = try IndexBuild(of: definition, in: sample.store, over: sample.store.snapshot())
        _ = try sample.store.compact()
        #expect(!build.canFollow(to: sample.store.snapshot()))
        let isBuilt = try sample.store.buildIndex(
            named: "built", on: definition.table, parts: definition.parts, extractorName: nil, isWanted: { _ in true })
        #expect(isBuilt && sample.store.snapshot().catalog.indexes(on: definition.table).contains { $0.name == "built" })
        #expect(try Self.sound(sample))
    }

    @Test
    func `An index that is not wanted any more, or that there is, is not made`() throws {
        let sample = try SampleStore(), table = sample.table.id
        try sample.insert(.init(name: "p", age: 1, group: 1))
        let sequence = sample.store.snapshot().sequence, parts = [IndexPart(column: SampleStore.age, ascending: true)]
        #expect(try !sample.store.buildIndex(named: "built", on: table, parts: parts, extractorName: nil, isWanted: { _ in false }))
        #expect(sample.store.snapshot().sequence == sequence)
        #expect(throws: StoreError.self) {
            try sample.store.buildIndex(named: "age", on: table, parts: parts, extractorName: nil, isWanted: { _ in true })
        }
        #expect(sample.store.snapshot().sequence == sequence)
        try sample.insert(.init(name: "q", age: 1, group: 1))
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// Holds the build at its first row.
    private final class Gate: IndexKeyExtractor {
        let reached = Completion(), open = Completion()

        func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
            reached.finish()
            open.wait(atMost: 60_000)
            key.append(int64: Int64(row.reference.row))
            return true
        }
    }

    @Test
    func `A save does not wait for a build`() throws {
        let gate = Gate()
        let sample = try SampleStore { $0.extractors["gate"] = gate }
        try sample.insert(.init(name: "p", age: 1, group: 1))
        let done = Completion(), store = sample.store, table = sample.table.id, failure = Mutex<String?>(nil)
        store.beginIndexBuilds()
        Thread.detachNewThread {
            store.noteIndexBuilder()
            do {
                _ = try store.buildIndex(named: "built", on: table, parts: [], extractorName: "gate", isWanted: { _ in true })
            } catch {
                failure.withLock { $0 = "\(error)" }
            }
            store.endIndexBuilds()
            done.finish()
        }
        gate.reached.wait(atMost: 60_000)
        // With a lock of the build these would wait for ever.
        for number in 0..<5 { try sample.insert(.init(name: "q \(number)", age: 2, group: 1)) }
        #expect(!done.isFinished)
        gate.open.finish()
        // A closing waits for the build.
        try store.close()
        done.wait(atMost: 60_000)
        #expect(failure.withLock { $0 } == nil)
        try sample.reopen()
        #expect(sample.store.snapshot().catalog.indexes(on: table).contains { $0.name == "built" })
        let report = try StoreVerification.verify(
            path: SampleStore.path, fileSystem: sample.fileSystem, makeExtractor: { $0 == "gate" ? gate : SampleStore.extractors[$0] })
        #expect(report.isSound, "\(report.problems)")
    }

    @Test
    func `An index takes another function that makes the same keys`() throws {
        struct Ages: IndexKeyExtractor {
            func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
                key.append(column: layout.access(of: SampleStore.age), of: row, descending: false)
                return true
            }
        }
        let sample = try SampleStore { for name in ["one", "two"] { $0.extractors[name] = Ages() } }
        for number in 0..<40 { try sample.insert(.init(name: "p \(number)", age: Int64(number % 7), group: 1)) }
        let id = try sample.store.write { try $0.defineIndex(named: "ages", on: sample.table.id, parts: [], extractorName: "one") }
        let before = sample.store.statistics.bytesAppended
        try sample.store.write { try $0.rename(indexes: [id: "years"], extractors: [id: "two"]) }
        #expect(sample.store.statistics.bytesAppended - before < 1 << 10)
        for wrong in [[id: "three"], [id: SampleStore.pairsExtractor], [sample.byAge: "two"]] {
            let error = #expect(throws: StoreError.self) { try sample.store.write { try $0.rename(indexes: [:], extractors: wrong) } }
            #expect(error?.code == .schema)
        }
        try sample.insert(.init(name: "new", age: 3, group: 1))
        for _ in 0..<2 {
            let report = try StoreVerification.verify(
                path: SampleStore.path, fileSystem: sample.fileSystem, makeExtractor: { $0 == "two" ? Ages() : SampleStore.extractors[$0] })
            #expect(report.isSound, "\(report.problems)")
            #expect(sample.store.snapshot().catalog.index(id)?.extractorName == "two" && sample.store.snapshot().catalog.index(id)?.name == "years")
            try sample.reopenAfterCrash()
            try sample.store.checkpoint()
        }
    }
}
