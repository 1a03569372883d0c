import TestSupport
import Testing

@testable import RecordLog

@Suite struct RandomWorkloadTests {
    /// Random puts, deletions, checkpoints, compactions and reopenings beside a dictionary; old snapshots are checked too.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func aStoreHoldsWhatADictionaryHolds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore {
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

    static func commit(_ sample: SampleStore, _ random: inout SeededGenerator) throws {
        var people = sample.people
        // Sorted once, so that the same seed does the same.
        var rows = people.keys.sorted()
        try sample.store.write { transaction in
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let place = rows.indices.randomElement(using: &random), known = place.map { rows[$0] }
                if let place, let known, Int.random(in: 0..<5, using: &random) == 0 {
                    #expect(try transaction.delete(sample.reference(known)))
                    people[known] = nil
                    rows.remove(at: place)
                } else if let known, Int.random(in: 0..<2, using: &random) == 0 {
                    let old = people[known]?.picture
                    people[known] = person(&random)
                    if Bool.random(using: &random) { people[known]?.picture = old }
                    try sample.put(transaction, known, people[known]!)
                    #expect(try transaction.row(sample.reference(known)).map { try sample.person($0, transaction.value) } == people[known])
                } else {
                    let row = try transaction.newRow(in: sample.table.id)
                    rows.append(row)
                    people[row] = person(&random)
                    try sample.put(transaction, row, people[row]!)
                }
            }
        }
        sample.people = people
    }

    static func person(_ random: inout SeededGenerator) -> SampleStore.Person {
        let length = Int.random(in: 0..<30, using: &random)
        let name = String((0..<length).map { _ in "abcé\0z".randomElement(using: &random)! })
        return SampleStore.Person(
            name: Int.random(in: 0..<10, using: &random) == 0 ? nil : name, age: Int64.random(in: -3...3, using: &random),
            group: UInt64.random(in: 0..<5, using: &random),
            picture: Int.random(in: 0..<4, using: &random) == 0 ? .random(&random) : nil)
    }
}
