import Synchronization
import Testing

@testable import RecordLog

@Suite struct AutomaticCompactionTests {
    private func churn(_ sample: SampleStore, _ commits: Int) throws {
        for number in 0..<commits {
            let row: UInt64 = UInt64(number % 5) + 1
            let person = SampleStore.Person(name: String(repeating: "n", count: 200), age: Int64(number), group: 1)
            if sample.people[row] == nil {
                try sample.insert(person)
            } else {
                try sample.store.write { try sample.put($0, row, person) }
                sample.people[row] = person
            }
        }
    }

    @Test
    func `A store of mostly dead bytes compacts itself`() throws {
        let sample = try SampleStore { $0.compaction = CompactionPolicy(deadRatio: 0.5, minimumBytes: 40_000) }
        let before = try sample.fileSystem.identity(of: SampleStore.path)
        try churn(sample, 600)
        sample.store.finishCompacting()
        #expect(try sample.fileSystem.identity(of: SampleStore.path) != before)
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(sample.store.log.end < 200_000)
        try sample.store.close()
        #expect(try OnlineCompactionTests.sound(sample) && OnlineCompactionTests.noFileIsLeft(sample))
    }

    @Test(arguments: [nil, CompactionPolicy(deadRatio: 0.5, minimumBytes: 1 << 30), CompactionPolicy(deadRatio: 1, minimumBytes: 0)])
    func `No compaction starts without cause`(policy: CompactionPolicy?) throws {
        let sample = try SampleStore { $0.compaction = policy }
        let before = try sample.fileSystem.identity(of: SampleStore.path)
        try churn(sample, 300)
        sample.store.finishCompacting()
        #expect(try sample.fileSystem.identity(of: SampleStore.path) == before)
    }

    /// A failure does no damage, and is not repeated at each commit.
    @Test
    func `A failed compaction is not tried again at once`() throws {
        let sample = try SampleStore { $0.compaction = CompactionPolicy(deadRatio: 0.5, minimumBytes: 40_000) }
        // Another process compacts all the time.
        let path = SampleStore.path + CompactionFile.suffix
        let other = try sample.fileSystem.open(path, .create)
        try other.lock(timeout: .zero)
        try churn(sample, 400)
        sample.store.finishCompacting()
        try sample.check(sample.store.snapshot(), sample.people)
        let end = sample.store.log.end
        #expect(sample.store.writer(\.compactionLookAt) > end)
        #expect(sample.store.writer(\.compactionLookAt) - end <= max(1 << 16, end / 4))
        other.unlock()
        try churn(sample, 600)
        sample.store.finishCompacting()
        #expect(sample.store.log.end < end)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// The thread has ended when `close` returns, and has left no file.
    @Test
    func `Closing ends a compaction`() throws {
        for commits in stride(from: 150, to: 260, by: 10) {
            let sample = try SampleStore { $0.compaction = CompactionPolicy(deadRatio: 0.5, minimumBytes: 40_000) }
            try churn(sample, commits)
            try sample.store.close()
            #expect(sample.store.compacting.load(ordering: .acquiring) == .idle)
            #expect(try OnlineCompactionTests.noFileIsLeft(sample))
            #expect(try OnlineCompactionTests.sound(sample))
        }
    }

    @Test
    func `A compaction is due by ratio and size`() {
        let policy = CompactionPolicy(deadRatio: 0.5, minimumBytes: 1000)
        #expect(policy.isDue(logBytes: 1000, usedBytes: 500))
        #expect(!policy.isDue(logBytes: 999, usedBytes: 1) && !policy.isDue(logBytes: 1000, usedBytes: 501))
        #expect(!policy.isDue(logBytes: 1000, usedBytes: 2000) && !CompactionPolicy(deadRatio: .nan).isDue(logBytes: 1 << 40, usedBytes: 0))
    }
}
