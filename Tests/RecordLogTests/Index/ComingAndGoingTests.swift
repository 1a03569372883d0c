import Testing

@testable import RecordLog

/// Rows that come and go between checkpoints. Each used to leave a tombstone in its index for good, and each read of its key passed all of them: 28,000
/// saves of one member took ten minutes.
@Suite struct ComingAndGoingTests {
    private static let standing = 3

    private static func key(ofGroup group: UInt64) -> KeyRange {
        let key = KeyBuilder()
        key.append(reference: RowReference(table: TableID(rawValue: 9), row: group))
        return .prefix(key.bytes)
    }

    /// - Returns: the most entries that a read of the group meets, over all commits.
    private static func entriesMet(rounds: Int, members: Int, checkpoint: Int?) throws -> Int {
        let sample = try SampleStore(), range = key(ofGroup: 1)
        for _ in 0..<standing { try sample.insert(.init(name: nil, age: 1, group: 1)) }
        var most = 0
        for round in 0..<rounds / members {
            var rows: [UInt64] = []
            for _ in 0..<members {
                rows.append(try sample.insert(.init(name: nil, age: 2, group: 1)))
                most = max(most, try sample.store.snapshot().estimate(sample.byGroup, range))
            }
            for row in rows {
                _ = try sample.store.write { try $0.delete(sample.reference(row)) }
                sample.people[row] = nil
                most = max(most, try sample.store.snapshot().estimate(sample.byGroup, range))
            }
            if round == checkpoint { try sample.store.checkpoint() }
        }
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try sample.store.snapshot().estimate(sample.byGroup, range) <= most)
        return most
    }

    @Test(arguments: [1, 20], [nil, 5])
    func `A read of a key meets a bounded number of entries, however many rows have come and gone`(members: Int, checkpoint: Int?) throws {
        for rounds in [500, 1000] {
            let met = try Self.entriesMet(rounds: rounds, members: members, checkpoint: checkpoint)
            // Two for each row that was there at one time, in each run in memory and one on disk.
            #expect(met <= 2 * (RunSet.memoryRunsMax + 1) * (members + Self.standing), "\(met) entries after \(rounds) rows")
        }
    }

    /// A row that comes if it is away, and goes if it is there, a number of times.
    private struct Change: CaseIterable {
        var takesNewRow: Bool
        var times: Int
        var isOneCommit: Bool

        static let allCases = [false, true].flatMap { isNew in
            [(1, false), (2, true), (9, false)].map { Change(takesNewRow: isNew, times: $0.0, isOneCommit: $0.1) }
        }
    }

    private struct Pinned {
        let snapshot: Snapshot
        let people: [UInt64: SampleStore.Person]
    }

    /// Three changes, each with one of two rows: one that comes back under its number, and one that gets a new number each time.
    private static func run(_ changes: [Change], checkpoint: Int, pins: Bool) throws -> String? {
        let sample = try SampleStore()
        try sample.insert(.init(name: "stays", age: 1, group: 1))
        var rows: [Bool: UInt64] = [:], pinned: [Pinned] = []
        for (number, change) in changes.enumerated() {
            for times in change.isOneCommit ? [change.times] : Array(repeating: 1, count: change.times) {
                try sample.store.write { transaction in
                    for _ in 0..<times {
                        let known = rows[change.takesNewRow]
                        if let known, sample.people[known] != nil {
                            _ = try transaction.delete(sample.reference(known))
                            sample.people[known] = nil
                            continue
                        }
                        let row = try known.flatMap { change.takesNewRow ? nil : $0 } ?? transaction.newRow(in: sample.table.id)
                        let person = SampleStore.Person(name: "comes", age: 2, group: change.takesNewRow ? 1 : 2)
                        try sample.put(transaction, row, person)
                        sample.people[row] = person
                        rows[change.takesNewRow] = row
                    }
                }
                if pins { pinned.append(Pinned(snapshot: sample.store.snapshot(), people: sample.people)) }
            }
            if number == checkpoint { try sample.store.checkpoint() }
        }
        if let wrong = try sample.mismatch(sample.store.snapshot(), sample.people) { return wrong }
        for old in pinned {
            if let wrong = try sample.mismatch(old.snapshot, old.people) { return "pinned: \(wrong)" }
        }
        try sample.reopenAfterCrash()
        if let wrong = try sample.mismatch(sample.store.snapshot(), sample.people) { return "replayed: \(wrong)" }
        try sample.reopen()
        return try sample.mismatch(sample.store.snapshot(), sample.people).map { "reopened: \($0)" }
    }

    @Test(arguments: [false, true], -1..<3)
    func `Every snapshot reads what it had, whichever rows come and go, how often, and where a checkpoint is`(pins: Bool, checkpoint: Int) throws {
        for first in Change.allCases {
            for second in Change.allCases {
                for third in Change.allCases {
                    let wrong = try Self.run([first, second, third], checkpoint: checkpoint, pins: pins)
                    #expect(wrong == nil, "\(first), \(second), \(third)")
                }
            }
        }
    }
}
