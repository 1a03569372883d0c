@testable import HeartwoodS3
import RecordLog
import Testing

@Suite(.timeLimit(.minutes(2))) struct CancellationTests {
    /// Cancels an operation once a server has seen so many requests.
    private func cancelled(_ server: LoopbackServer, after requests: Int, _ operation: @escaping @Sendable () async throws -> Void) async -> Bool {
        let task = Task { try await operation() }
        guard await server.wait(forRequests: requests) else { return false }
        task.cancel()
        let result = await task.result
        guard case .failure(let error) = result else { return false }
        return error is CancellationError
    }

    @Test
    func `A request without an answer is left at once`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let destination = try S3Destination.testing(server.endpoint, timeout: 60)
        #expect(await cancelled(server, after: 1) { _ = try await destination.list(prefix: "") })
        server.stop()
    }

    @Test
    func `A pause between attempts is left at once`() async throws {
        let server = try LoopbackServer { _ in .answer(.init(503, ["Retry-After": "50"])) }
        let destination = try S3Destination.testing(server.endpoint, timeLimit: 100, longestPause: 60)
        #expect(await cancelled(server, after: 1) { _ = try await destination.list(prefix: "") })
    }

    @Test
    func `A put that is cancelled between its parts leaves no parts`() async throws {
        let bucket = FakeBucket()
        let server = try LoopbackServer { $0.query["partNumber"] == "2" ? .silence : .answer(bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint, timeout: 60)
        // A look, the beginning, and two parts.
        #expect(await cancelled(server, after: 4) { try await destination.put("a", size: nil, PieceUpload(patternBytes(5000))) })
        #expect(bucket.openUploads == 0)
        #expect(bucket.objects.isEmpty)
        server.stop()
    }

    @Test
    func `A cancelled task sends nothing`() async throws {
        let bucket = FakeBucket()
        let server = try LoopbackServer { .answer(bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await destination.list(prefix: "")
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests == 0)
    }

    @Test
    func `A destination that goes away leaves its requests alone`() async throws {
        let bucket = FakeBucket()
        let server = try LoopbackServer { .answer(bucket.answer($0)) }
        for index in 0..<20 { try await S3Destination.testing(server.endpoint).put("o\(index)", size: 1, BackupBytes([1])) }
        #expect(bucket.objects.count == 20)
    }
}
