import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// What a backup that follows ships, and how often.
@Suite struct FollowingCostTests {
    @Test
    func `Small commits with checkpoints between them are shipped with at most 1.2 bytes for each of their bytes`() async throws {
        let store = try BackedUpStore { $0.checkpointAfterBytes = 20_000 }
        try store.commit(0)
        let run = BackupRun(of: SampleStore.path, to: store.destination, store.sample.options)
        var report = StoreBackup.Report()
        try await run.pass(bytesMax: 64 << 20, &report)
        report = StoreBackup.Report()
        let before = store.sample.store.statistics.checkpoints, end = store.sample.store.snapshot().end
        for number in 0..<2000 {
            try store.sample.insert(.init(name: "name \(number)", age: Int64(number), group: 1))
            // As many as a second has.
            if number % 400 == 399 { try await run.pass(bytesMax: 64 << 20, &report) }
        }
        #expect(report.archives == 5 && report.commits == 2000)
        #expect(store.sample.store.statistics.checkpoints > before + 3)
        let grown = store.sample.store.snapshot().end - end
        #expect(report.commitBytes < grown && Double(report.bytes) <= 1.2 * Double(report.commitBytes), "\(report.bytes) of \(report.commitBytes)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A backup that follows puts one object in an interval at most, goes on while it merges, and ends then`() async throws {
        let store = try BackedUpStore(), destination = ProbedDestination(store.destination), passes = Watched(0)
        try store.commit(0)
        var backup = StoreBackup(of: SampleStore.path, to: destination, options: store.sample.options)
        backup.mergesAfter = 20
        // A merge gets archives whole, and never gets one here.
        let merges = Watched(0)
        destination.before { operation in
            guard case .get(_, let range) = operation, range.count > 1, passes.withLock({ $0 }) > 10 else { return }
            merges.withLock { $0 += 1 }
            // Until the backup ends.
            try await Task.sleep(for: .seconds(3600))
        }
        let task = Task { [backup] in try await backup.follow(every: .milliseconds(5)) { _ in passes.withLock { $0 += 1 } } }
        func commit(until isDone: () -> Bool) async throws {
            while !isDone() {
                let done = passes.withLock { $0 }
                try store.commit(0)
                _ = await passes.wait { $0 > done }
            }
        }
        try await commit { merges.withLock { $0 } > 0 }
        let before = passes.withLock { $0 }
        try await commit { passes.withLock { $0 } > before + 3 }
        let counts = destination.counts, done = passes.withLock { $0 }
        #expect(counts.archivePuts <= done + 1)
        // A pass without new commits puts a head, if one is due.
        #expect(counts.puts <= done + done / 10 + 2)
        task.cancel()
        try await task.value
        try await store.check(store.sequence, "stopped")
    }
}
