import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// An opening costs little, whatever came before it and however that ended. `SeveralProcessesTests` ends processes.
@Suite struct OpeningCostTests {
    private static let unit: UInt64 = 32 << 10

    /// The last act of a process.
    enum Work: CaseIterable {
        case load, smallCommits, hugeCommit, indexes, compaction, nothing
    }

    /// How it ends. A crash in a checkpoint comes at its n-th call of the file system.
    enum Ending: Hashable {
        case close, exit, crash, crashInCheckpoint(Int)
        static let all = [close, exit, crash] + [1, 2, 3, 5, 8].map(crashInCheckpoint)
    }

    private static func store(_ disk: SimulatedFileSystem, isInBackground: Bool, checkpointAfter bytes: UInt64 = unit) throws -> SampleStore {
        try SampleStore(fileSystem: disk) {
            $0.checkpointAfterBytes = bytes
            $0.largeCommitBytes = 1024
            $0.checkpointsInBackground = isInBackground
            $0.durability = .none
            $0.zeroAheadBytes = 0
        }
    }

    private static func commit(_ sample: SampleStore, rows: Int) throws {
        var people = sample.people
        try sample.store.write { transaction in
            for _ in 0..<rows {
                let row = try transaction.newRow(in: sample.table.id)
                people[row] = .init(name: "\(row &* 7919 % 1_000_003) \(String(repeating: "x", count: 120))", age: Int64(row % 90), group: row % 40 + 1)
                try sample.put(transaction, row, people[row]!)
            }
        }
        sample.people = people
    }

    private static func run(_ work: Work, _ sample: SampleStore) throws {
        switch work {
        case .load: for _ in 0..<30 { try commit(sample, rows: 40) }
        case .smallCommits: for _ in 0..<40 { try commit(sample, rows: 1) }
        case .hugeCommit: try commit(sample, rows: 1500)
        case .indexes: try sample.store.write { try sample.addOrDropLateIndex($0) }
        case .compaction: _ = try sample.store.compact()
        case .nothing: break
        }
    }

    private static func end(_ ending: Ending, _ sample: SampleStore, _ disk: SimulatedFileSystem) throws {
        switch ending {
        case .close: try sample.store.close()
        case .exit: sample.store.checkpointAtExit()
        case .crash: break
        case .crashInCheckpoint(let call):
            sample.store.finishCheckpoint()
            disk.fail(at: disk.operationCount + call, .once(EIO))
            try? sample.store.checkpoint()
            disk.heal()
        }
        // Its threads would go on.
        sample.store.finishCheckpoint()
    }

    private static func replayedByReader(_ sample: SampleStore) throws -> UInt64 {
        var options = sample.options
        options.isReadOnly = true
        return try LogStore.open(path: SampleStore.path, options: options).statistics.bytesReplayed
    }

    /// Two kinds of work by turns, each of which ends in a way of its own.
    @Test(arguments: Ending.all, [false, true])
    func `One writer's opening makes later openings short`(ending: Ending, isInBackground: Bool) throws {
        for first in Work.allCases {
            for second in Work.allCases {
                let disk = SimulatedFileSystem(), sample = try Self.store(disk, isInBackground: isInBackground)
                for _ in 0..<10 { try Self.commit(sample, rows: 20) }
                try Self.run(first, sample)
                try Self.end(ending, sample, disk)
                try sample.reopenAfterCrash()
                try Self.run(second, sample)
                try Self.end(ending, sample, disk)
                let left = try Self.replayedByReader(sample), what = Comment("\(first), \(second), \(ending), \(left)")
                #expect(left <= 9 * Self.unit + 1500 * 1000, what)
                if ending == .close || ending == .exit { #expect(left <= 64 << 10, what) }
                // The opening that repairs ends by a crash at once. So do the next ones, which save a little.
                try sample.reopenAfterCrash()
                for _ in 0..<3 {
                    #expect(try Self.replayedByReader(sample) <= Self.unit, what)
                    try sample.reopenAfterCrash()
                    #expect(sample.store.statistics.bytesReplayed <= Self.unit, what)
                    try Self.commit(sample, rows: 1)
                }
                try sample.check(sample.store.snapshot(), sample.people)
            }
        }
    }

    /// An index is no part of the log: until a checkpoint has it, each opening makes it of all rows.
    @Test(arguments: [false, true])
    func `An index that was built of many rows is soon in a checkpoint`(isInBackground: Bool) throws {
        let disk = SimulatedFileSystem(), sample = try Self.store(disk, isInBackground: isInBackground)
        for _ in 0..<60 { try Self.commit(sample, rows: 20) }
        // Another handle is in no load, which would put the checkpoint off.
        try sample.reopen()
        let before = sample.store.statistics.checkpoints
        try sample.store.write { try sample.addOrDropLateIndex($0) }
        sample.store.finishCheckpoint()
        #expect(sample.store.statistics.checkpoints == before + 1)
        try sample.reopenAfterCrash()
        #expect(sample.store.statistics.bytesReplayed == 0)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A reader's opening says what it spends on an index that no checkpoint has`() throws {
        let disk = SimulatedFileSystem(), sample = try Self.store(disk, isInBackground: false, checkpointAfter: 1 << 30)
        for _ in 0..<10 { try Self.commit(sample, rows: 20) }
        try sample.store.checkpoint()
        try sample.store.write { try sample.addOrDropLateIndex($0) }
        #expect(try Self.replayedByReader(sample) > 200 * 150)
    }
}
