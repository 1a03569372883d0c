import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct RandomWorkloadTests {
    /// Random puts, deletions, checkpoints, compactions and reopenings beside a dictionary; old snapshots are checked too.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `A store agrees with a dictionary`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore(isWide: seed % 4 != 0, hasTerms: seed % 2 == 0) {
            $0.checkpointAfterBytes = seed % 2 == 0 ? 20_000 : 16 << 20
            $0.usesMemoryMapping = seed % 3 != 0
        }
        var kept: [(Snapshot, [UInt64: SampleStore.Person])] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try sample.store.checkpoint()
            case 1: _ = try sample.store.compact()
            case 2: try sample.reopen()
            case 3: try sample.reopenAfterCrash()
            case 4 where seed % 4 != 0: try sample.store.write { try sample.addLayout($0, &sample.people, &random) }
            default: try Self.commit(sample, &random)
            }
            if Int.random(in: 0..<6, using: &random) == 0 { kept.append((sample.store.snapshot(), sample.people)) }
        }
        try sample.check(sample.store.snapshot(), sample.people)
        for (snapshot, people) in kept { try sample.check(snapshot, people) }
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem)
        #expect(report.problems.isEmpty, "seed \(seed)")
        #expect((sample.store.statistics.bytesRead > 0) == (seed % 3 == 0), "seed \(seed)")
    }

    /// Commits deletions, rewritten rows, changed copies as the stack makes them, and insertions.
    static func commit(_ sample: SampleStore, _ random: inout SeededGenerator) throws {
        var people = sample.people
        // Sorted, so that the same seed gives the same run.
        var rows = people.keys.sorted()
        try sample.store.write { transaction in
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let index = rows.indices.randomElement(using: &random), known = index.map { rows[$0] }
                if let index, let known, Int.random(in: 0..<5, using: &random) == 0 {
                    #expect(try transaction.delete(sample.reference(known)))
                    people[known] = nil
                    rows.remove(at: index)
                } else if let known, Int.random(in: 0..<2, using: &random) == 0 {
                    let old = people[known]!, domain = Int.random(in: 0..<40, using: &random) == 0 ? ValueDomain.long : .short
                    let new = sample.draw(transaction.catalog, from: old, domain, &random)
                    people[known] = new
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        try sample.put(transaction, known, new)
                    } else {
                        try sample.revise(transaction, known, from: old, to: new, &random)
                    }
                    let found = try transaction.unsafeRow(sample.reference(known))
                        .map { try sample.person($0, transaction.value, in: transaction.catalog) }
                    #expect(found == new)
                } else {
                    let row = try transaction.newRow(in: sample.table.id)
                    rows.append(row)
                    people[row] = sample.draw(transaction.catalog, .short, &random)
                    try sample.put(transaction, row, people[row]!)
                }
            }
        }
        sample.people = people
    }
}
