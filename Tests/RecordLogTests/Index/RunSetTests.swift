import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Runs in memory from commits of every size, beside a plain set.
@Suite struct RunSetTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `Runs in memory are few and show the newest entries`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed), runs = RunSet.empty, present: Set<[UInt8]> = []
        let sizes = [[1], [1, 1, 1, 2, 30], [1, 1, 500, 5000]][Int(seed % 3)]
        for _ in 0..<200 {
            let buffer = Memtable()
            for _ in 0..<(sizes.randomElement(using: &random) ?? 1) {
                let entry = [UInt8.random(in: 0..<8, using: &random), UInt8.random(in: 0...255, using: &random), 0, 0, 0, 0, 0, 1]
                // As a replay does, which puts an unchanged entry anew.
                let isTombstone = present.contains(entry), isPut = !isTombstone || Bool.random(using: &random)
                if isPut { present.insert(entry) } else { present.remove(entry) }
                entry.withUnsafeBytes {
                    if isTombstone { buffer.append($0, isTombstone: true) }
                    if isPut { buffer.append($0, isTombstone: false) }
                }
            }
            runs = runs.adding(.memory(ImmutableMemtable([buffer])))
            #expect(runs.fresh.count <= RunSet.memoryRunsMax, "seed \(seed)")
            // A reader looks now and then, so that some runs are sorted when they are merged.
            guard Int.random(in: 0..<5, using: &random) == 0 else { continue }
            let merged = try runs.merged()
            var found: [[UInt8]] = []
            while try merged.next() { found.append(Array(merged.entry)) }
            #expect(found == present.sorted { $0.precedes($1) }, "seed \(seed)")
        }
    }

    /// Commits of one row merge runs only once in several, and copy each entry about ten times at most, for any number of commits.
    @Test
    func `Small commits copy few entries`() {
        var runs = RunSet.empty, copied = 0
        let count = 20_000
        for number in 0..<count {
            let buffer = Memtable(), entry = withUnsafeBytes(of: UInt64(number).bigEndian, Array.init)
            entry.withUnsafeBytes { buffer.append($0, isTombstone: false) }
            runs = runs.adding(.memory(ImmutableMemtable([buffer])))
            if case .memory(let newest)? = runs.fresh.first, newest.countMax > 1, newest.countMax <= 4096 { copied += newest.countMax }
        }
        #expect(runs.freshEntryCount == count && copied < count * 12, "\(copied) copies")
    }

    @Test
    func `Transactions over one catalog share what makes their entries, and one over another catalog makes its own`() throws {
        let sample = try SampleStore()
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let made = try #require(sample.store.writer(\.maintainers))
        try sample.insert(.init(name: "b", age: 1, group: 1))
        #expect(sample.store.writer(\.maintainers) === made)
        try sample.store.write { try sample.addOrDropLateIndex($0) }
        try sample.insert(.init(name: "c", age: 1, group: 1))
        #expect(sample.store.writer(\.maintainers) !== made)
        try sample.check(sample.store.snapshot(), sample.people)
    }
}
