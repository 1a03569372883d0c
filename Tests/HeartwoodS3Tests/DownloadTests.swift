@testable import HeartwoodS3
import RecordLog
import Testing

@Suite(.timeLimit(.minutes(2))) struct DownloadTests {
    private let bytes = patternBytes(300_000)
    private let bucket = FakeBucket()

    init() { bucket.set("backups/a", bytes) }

    @Test(arguments: [65_536, 100_000])
    func `A download that is cut goes on where it ended`(step: Int) async throws {
        let bucket = bucket, log = RequestLog()
        let server = try LoopbackServer { request in
            log.note(request)
            return .cut(bucket.answer(request), after: step)
        }
        // More cuts than attempts: each brings the download on.
        let destination = try S3Destination.testing(server.endpoint, attempts: 2)
        #expect(try await destination.get("a", 10..<299_990) == Array(bytes[10..<299_990]))
        #expect(log.requests.count == (299_980 + step - 1) / step)
        #expect(log.requests.dropFirst().allSatisfy { $0.headers["if-match"] == "\"300000\"" })
        #expect(log.requests[1].headers["range"] == "bytes=\(10 + step)-299989")
    }

    @Test
    func `A server that sends a few bytes a time is given up`() async throws {
        let bucket = bucket
        let server = try LoopbackServer { .cut(bucket.answer($0), after: 10) }
        let destination = try S3Destination.testing(server.endpoint, attempts: 4)
        let error = await backupError { _ = try await destination.get("a", 0..<300_000) }
        #expect(error?.code == .unreachable)
        #expect(server.requests == 4)
    }

    @Test
    func `An object that changes within a download is damage`() async throws {
        let bucket = bucket
        let server = try LoopbackServer { request in
            defer { bucket.set("backups/a", patternBytes(200_001)) }
            return .cut(bucket.answer(request), after: 100_000)
        }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { _ = try await destination.get("a", 0..<200_000) }
        #expect(error?.code == .damaged)
        #expect(error?.offset == 100_000)
    }

    @Test
    func `A server without ranges serves a whole object, and nothing else`() async throws {
        let bytes = bytes
        let server = try LoopbackServer { _ in .answer(.init(200, [:], bytes)) }
        let destination = try S3Destination.testing(server.endpoint)
        #expect(try await destination.get("a", 0..<300_000) == bytes)
        for range in [0..<10, 1..<300_000, 299_999..<300_000] as [Range<UInt64>] {
            let error = await backupError { _ = try await destination.get("a", range) }
            #expect(error?.code == .refused, "\(range)")
        }
        #expect(await backupError { _ = try await destination.get("a", 0..<300_001) }?.code == .damaged)
    }

    @Test(
        arguments: [
            "bytes 0-99/300000", "bytes 10-108/300000", "bytes 10-110/300000", "bytes 11-110/300000", "bytes */300000", "", "items 10-109/300000",
        ])
    func `An answer with other bytes than were asked for is refused`(header: String) async throws
    {
        let count = header == "bytes 10-108/300000" ? 99 : header == "bytes 10-110/300000" ? 101 : 100
        let server = try LoopbackServer { _ in
            .answer(.init(206, header.isEmpty ? [:] : ["Content-Range": header], [UInt8](repeating: 0, count: count)))
        }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { _ = try await destination.get("a", 10..<110) }
        #expect(error?.code == .refused)
        #expect(server.requests == 1)
    }

    @Test(arguments: [99, 101, 3_000_000])
    func `An answer of another length than its range is refused`(count: Int) async throws {
        let server = try LoopbackServer { _ in .answer(.init(206, ["Content-Range": "bytes 10-109/300000"], [UInt8](repeating: 0, count: count))) }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { _ = try await destination.get("a", 10..<110) }
        #expect(error?.code == .refused)
    }

    @Test
    func `A server that calls a range beyond the end an invalid request is asked for the size`() async throws {
        let bucket = bucket
        let server = try LoopbackServer { request in
            .answer(request.headers["range"] == "bytes=0-9" ? .error(400, "InvalidArgument") : bucket.answer(request))
        }
        let destination = try S3Destination.testing(server.endpoint)
        bucket.set("backups/short", [1, 2, 3])
        #expect(await backupError { _ = try await destination.get("short", 0..<10) }?.code == .damaged)
        #expect(await backupError { _ = try await destination.get("a", 0..<10) }?.code == .refused)
    }

    @Test
    func `An endless error is cut off`() async throws {
        let server = try LoopbackServer { _ in .answer(.init(403, [:], [UInt8](repeating: 0x20, count: 3 << 20))) }
        let destination = try S3Destination.testing(server.endpoint)
        #expect(await backupError { _ = try await destination.get("a", 0..<10) }?.code == .refused)
    }
}
