@testable import HeartwoodS3
import RecordLog
import Testing

/// Backups and restores of stores through a bucket.
@Suite(.timeLimit(.minutes(2))) struct StoreTests {
    private let bucket = FakeBucket(pageSize: 2)

    @Test
    func `A store is backed up in pieces, and restored as of any commit, while every fifth request fails`() async throws {
        let bucket = bucket
        let server = try LoopbackServer { request in
            switch request.number % 15 {
            case 4: .answer(.error(503, "SlowDown"))
            case 9: .close
            case 14:
                // The answer is lost.
                bucket.answer(request).status < 0 ? .silence : .close
            default: .answer(bucket.answer(request))
            }
        }
        let destination = try S3Destination.testing(server.endpoint, attempts: 10)
        let store = try NamedStore()
        var expected: [UInt64: [String]] = [:], all: [String] = []
        for round in 0..<4 {
            for index in 0..<3 {
                all.append("name \(round) \(index)")
                try store.commit(all.last ?? "")
                expected[store.sequence] = all
            }
            #expect(try await store.backUp(to: destination).sequence == store.sequence)
        }
        #expect(bucket.openUploads == 0)
        #expect(try await BackupArchives(at: destination).verify().isEmpty)
        for (sequence, names) in expected {
            // The archives of the last round reach the newest commit; earlier states are restored from the first archives.
            let restored = try await store.restore(from: destination, at: .commit(sequence))
            #expect(restored.sequence == sequence && restored.names == names)
        }
    }
}
