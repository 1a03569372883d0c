@testable import HeartwoodS3
import RecordLog
import Testing

/// The head of a line in a bucket: what a backup has acknowledged is missed when it is gone. See docs/decisions/0104-a-head-is-a-name.md.
@Suite(.timeLimit(.minutes(2))) struct HeadTests {
    private let store: NamedStore

    init() throws { store = try NamedStore() }

    /// A Heartwood that knows no heads: it sees none, and puts none.
    private struct OlderDestination: BackupDestination {
        let inner: S3Destination
        var description: String { inner.description }

        func list(prefix: String) async throws -> [BackupObject] { try await inner.list(prefix: prefix).filter { !$0.name.hasSuffix(".head") } }
        func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws {
            if !name.hasSuffix(".head") { try await inner.put(name, size: size, upload) }
        }
        func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8] { try await inner.get(name, range) }
        func delete(_ name: String) async throws { try await inner.delete(name) }
    }

    /// The commits that the heads of a bucket name.
    private func heads(_ bucket: FakeBucket) -> [UInt64] {
        bucket.objects.keys.filter { $0.hasSuffix(".head") }.compactMap { key in
            key.split(separator: "/").last?.split(separator: "-").first.flatMap { UInt64($0) }
        }.sorted()
    }

    /// The key of the archive with the newest commits.
    private func newestArchive(_ bucket: FakeBucket) throws -> String {
        func last(_ key: String) -> Substring { key.split(separator: "-").dropLast(3).last ?? "" }
        let keys = bucket.objects.keys.filter { $0.hasSuffix(".hwlog") && !$0.hasSuffix("-base.hwlog") }
        return try #require(keys.max { (last($0), $0) < (last($1), $1) })
    }

    @Test(arguments: [false, true], [false, true])
    func `A bucket whose newest archive is deleted or cut gives no older state for the newest; the next backup puts it again`(
        isDeleted: Bool, isConditional: Bool
    ) async throws {
        let bucket = FakeBucket(pageSize: 2, isConditional: isConditional)
        let server = try LoopbackServer { .answer(bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint)
        for round in 0..<4 {
            try store.commit("name \(round)")
            _ = try await store.backUp(to: destination)
            #expect(heads(bucket) == [store.sequence])
        }
        let key = try newestArchive(bucket), newest = store.sequence
        if isDeleted { bucket.remove(key) } else { bucket.set(key, bucket.objects[key]?.dropLast(70) ?? []) }
        let error = await backupError { _ = try await store.restore(from: destination) }
        #expect(error?.code == (isDeleted ? .notCovered : .damaged) && error?.available == newest - 1, "\(String(describing: error))")
        #expect(try await store.restore(from: destination, at: .commit(newest - 1)).names == ["name 0", "name 1", "name 2"])
        let standing = try await StoreBackup(of: store.path, to: destination).standing()
        #expect(!standing.isSound && standing.sequence == newest - 1 && standing.acknowledged == newest && standing.lost == [newest...newest])
        #expect(try await BackupArchives(at: destination).verify().count == 1)
        #expect(try await store.backUp(to: destination).archives == 1)
        #expect(try await store.restore(from: destination).sequence == newest)
        #expect(try await StoreBackup(of: store.path, to: destination).standing().isSound)
        #expect(try await BackupArchives(at: destination).verify().isEmpty && heads(bucket) == [newest])
    }

    @Test(arguments: [false, true])
    func `Two backups of one store to a bucket, at the same time and by turns, never put the head back and leave one`(
        isConditional: Bool
    ) async throws {
        let bucket = FakeBucket(pageSize: 3, isConditional: isConditional)
        // Every sixth answer is lost behind its request, so that a put is done though it seems to fail.
        let server = try LoopbackServer { request in
            let answer = bucket.answer(request)
            return request.number % 6 == 5 ? .close : .answer(answer)
        }
        let destinations = try (0..<2).map { _ in try S3Destination.testing(server.endpoint, attempts: 10) }
        var acknowledged: UInt64 = 0
        for round in 0..<12 {
            try store.commit("name \(round)")
            // Without conditional puts two machines must not back up at the same time: by turns only.
            if isConditional, round % 3 == 2 {
                let backups = destinations.map { StoreBackup(of: store.path, to: $0) }
                async let other = backups[1].run()
                _ = try await (backups[0].run(), other)
            } else {
                _ = try await store.backUp(to: destinations[round % 2])
            }
            let greatest = heads(bucket).max() ?? 0
            #expect(greatest == store.sequence && greatest > acknowledged, "round \(round)")
            acknowledged = greatest
        }
        _ = try await store.backUp(to: destinations[0])
        _ = try await BackupArchives(at: destinations[1]).prune(keeping: RetentionPolicy())
        #expect(heads(bucket) == [store.sequence])
        #expect(try await store.restore(from: destinations[0]).sequence == store.sequence)
        #expect(try await BackupArchives(at: destinations[0]).verify().isEmpty)
    }

    @Test
    func `An older reader restores from a bucket with heads, and the next backup puts the head behind an older writer's archives`() async throws {
        let bucket = FakeBucket(pageSize: 2), server = try LoopbackServer { .answer(bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint), older = OlderDestination(inner: destination)
        try store.commit("first")
        _ = try await store.backUp(to: destination)
        let first = store.sequence
        #expect(try await store.restore(from: older).sequence == first)
        try store.commit("second")
        _ = try await store.backUp(to: older)
        #expect(heads(bucket) == [first])
        #expect(try await store.restore(from: destination).names == ["first", "second"])
        #expect(try await StoreBackup(of: store.path, to: destination).standing().isSound)
        #expect(try await store.backUp(to: destination).archives == 0)
        #expect(heads(bucket) == [store.sequence])
        // Without any head, as an older Heartwood has written it, a loss is not noticed before the next backup.
        for key in bucket.objects.keys where key.hasSuffix(".head") { bucket.remove(key) }
        bucket.remove(try newestArchive(bucket))
        #expect(try await store.restore(from: destination).sequence == first)
        #expect(try await store.backUp(to: destination).archives == 1)
        #expect(try await store.restore(from: destination).sequence == store.sequence)
    }

    @Test
    func `Where a bucket permits no deletion, heads stay and the greatest counts`() async throws {
        let bucket = FakeBucket()
        let server = try LoopbackServer { .answer($0.method == "DELETE" ? .error(403, "AccessDenied") : bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint)
        for round in 0..<3 {
            try store.commit("name \(round)")
            _ = try await store.backUp(to: destination)
        }
        #expect(heads(bucket) == [2, 3, 4] && store.sequence == 4)
        #expect(try await BackupArchives(at: destination).list().map(\.acknowledged) == [4])
        bucket.remove(try newestArchive(bucket))
        #expect(await backupError { _ = try await store.restore(from: destination) }?.available == 3)
    }
}
