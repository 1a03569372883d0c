import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

@Suite struct FollowingBackupTests {
    /// A destination that fails when it is told to.
    private final class FailingDestination: BackupDestination {
        let inner: DirectoryDestination
        let code = Mutex<BackupError.Code?>(nil)

        init(_ inner: DirectoryDestination) { self.inner = inner }

        var description: String { inner.description }

        private func check() throws {
            if let code = code.withLock({ $0 }) { throw BackupError(code, description, "simulated", remedy: "None.") }
        }

        func list(prefix: String) async throws -> [BackupObject] {
            try check()
            return try await inner.list(prefix: prefix)
        }

        func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws {
            try check()
            try await inner.put(name, size: size, upload)
        }

        func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8] {
            try check()
            return try await inner.get(name, range)
        }

        func delete(_ name: String) async throws {
            try check()
            try await inner.delete(name)
        }
    }

    private func wait(_ status: Watched<StoreBackup.Status>, until isTrue: @escaping @Sendable (StoreBackup.Status) -> Bool) async {
        guard await !status.wait(until: isTrue) else { return }
        Issue.record("the backup did not get so far: \(status.withLock { "\($0)" })")
    }

    @Test
    func `A backup follows commits, compactions and failures of its destination, and puts its last piece when it is stopped`() async throws {
        let store = try BackedUpStore(), destination = FailingDestination(store.destination), shown = Watched(StoreBackup.Status())
        try store.commit(0)
        let backup = StoreBackup(of: SampleStore.path, to: destination, options: store.sample.options)
        let task = Task {
            try await backup.follow(every: .milliseconds(5)) { status in shown.withLock { $0 = status } }
        }
        for number in 1..<10 {
            try store.commit(number)
            let wanted = store.sequence
            await wait(shown) { $0.total.sequence == wanted && $0.behindSince == nil }
        }
        #expect(shown.withLock { $0.lag ?? 0 } < 10_000_000)
        _ = try store.sample.store.compact(keeping: .commits(1))
        await wait(shown) { $0.total.baseArchives == 2 }
        destination.code.withLock { $0 = .unreachable }
        try store.commit(3)
        await wait(shown) { $0.behindSince != nil && ($0.error as? BackupError)?.code == .unreachable }
        destination.code.withLock { $0 = nil }
        let wanted = store.sequence
        await wait(shown) { $0.total.sequence == wanted && $0.behindSince == nil }
        try store.commit(0)
        task.cancel()
        try await task.value
        #expect(shown.withLock { $0.total.sequence } == store.sequence)
        #expect(shown.withLock { $0.total.missing.isEmpty })
        for sequence in 1...store.sequence { try await store.check(sequence, "followed") }
    }

    @Test
    func `A backup that follows ends with an error that no repetition mends`() async throws {
        let store = try BackedUpStore(), destination = FailingDestination(store.destination)
        try store.commit(0)
        destination.code.withLock { $0 = .invalidArgument }
        let backup = StoreBackup(of: SampleStore.path, to: destination, options: store.sample.options)
        await #expect(throws: BackupError.self) { try await backup.follow(every: .milliseconds(5)) }
    }

    @Test
    func `A backup that follows merges its small archives`() async throws {
        let store = try BackedUpStore(), shown = Watched(StoreBackup.Status())
        var backup = StoreBackup(of: SampleStore.path, to: store.destination, options: store.sample.options)
        backup.mergesAfter = 20
        let task = Task { [backup] in try await backup.follow(every: .milliseconds(2)) { status in shown.withLock { $0 = status } } }
        for number in 0..<50 {
            try store.commit(number)
            let wanted = store.sequence
            await wait(shown) { $0.total.sequence == wanted }
        }
        task.cancel()
        try await task.value
        let archives = try await BackupArchives(at: store.destination).list().flatMap(\.archives)
        #expect(archives.count < 35 && shown.withLock { $0.total.archives } > 40)
        for sequence in 1...store.sequence { try await store.check(sequence, "merged while following") }
    }

    @Test
    func `Attempts become rarer with each failure, up to one a minute`() {
        #expect(FollowStop.wait(.seconds(1), afterFailures: 0) == .seconds(1))
        #expect(FollowStop.wait(.seconds(1), afterFailures: 3) == .seconds(8))
        #expect(FollowStop.wait(.milliseconds(1), afterFailures: 1) == .milliseconds(200))
        #expect(FollowStop.wait(.seconds(1), afterFailures: 90) == .seconds(60))
        #expect(FollowStop.wait(.seconds(300), afterFailures: 90) == .seconds(300))
    }
}
