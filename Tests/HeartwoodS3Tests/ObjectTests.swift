import HeartwoodPlatform
@testable import HeartwoodS3
import RecordLog
import Synchronization
import Testing

/// A destination over a bucket that works as it should.
@Suite(.timeLimit(.minutes(2))) struct ObjectTests {
    private let bucket = FakeBucket()
    private let server: LoopbackServer
    private let destination: S3Destination
    /// Method, path and query's names of each request.
    private let requests: RequestLog

    init() throws {
        let bucket = bucket, log = RequestLog()
        requests = log
        server = try LoopbackServer { request in
            log.note(request)
            return .answer(bucket.answer(request))
        }
        destination = try S3Destination.testing(server.endpoint)
    }

    @Test(arguments: [0, 1, 699, 700, 999, 1000, 1001, 1999, 2000, 2001, 5300], [true, false])
    func `An object is put whole, in one request or in parts`(count: Int, isSizeKnown: Bool) async throws {
        let bytes = patternBytes(count)
        try await destination.put("a/b.hwlog", size: isSizeKnown ? UInt64(count) : nil, PieceUpload(bytes))
        #expect(bucket.objects == ["backups/a/b.hwlog": bytes])
        #expect(bucket.openUploads == 0)
        // One look first, and one put; or the upload's beginning, its parts and its end.
        #expect(server.requests == (count <= 1000 ? 2 : 3 + (count + 999) / 1000))
    }

    @Test(arguments: [10, 3000])
    func `A taken name is refused, and its object stays`(count: Int) async throws {
        bucket.set("backups/a", [1, 2, 3])
        let error = await backupError { try await destination.put("a", size: nil, PieceUpload(patternBytes(count))) }
        #expect(error?.code == .exists)
        #expect(error?.location == "s3://bucket/backups/a")
        #expect(bucket.objects == ["backups/a": [1, 2, 3]])
        #expect(bucket.openUploads == 0)
    }

    @Test(arguments: [10, 3000])
    func `A name that is taken while the object is on its way is refused by the server`(count: Int)
        async throws
    {
        let bucket = bucket
        let server = try LoopbackServer { request in
            if request.method != "HEAD" { bucket.set("backups/a", [1]) }
            return .answer(bucket.answer(request))
        }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { try await destination.put("a", size: nil, PieceUpload(patternBytes(count))) }
        #expect(error?.code == .exists)
        #expect(bucket.objects == ["backups/a": [1]])
        #expect(bucket.openUploads == 0)
    }

    @Test(arguments: [10, 3000])
    func `A server that ignores the condition is asked first`(count: Int) async throws {
        let bucket = FakeBucket(isConditional: false)
        let server = try LoopbackServer { .answer(bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint)
        try await destination.put("a", size: nil, PieceUpload(patternBytes(count)))
        let error = await backupError { try await destination.put("a", size: nil, PieceUpload([9])) }
        #expect(error?.code == .exists)
        #expect(bucket.objects == ["backups/a": patternBytes(count)])
    }

    @Test(arguments: [10, 3000])
    func `A server that refuses the condition gets none`(count: Int) async throws {
        let bucket = bucket
        let server = try LoopbackServer { request in
            .answer(request.headers["if-none-match"] == nil ? bucket.answer(request) : .error(501, "NotImplemented"))
        }
        let destination = try S3Destination.testing(server.endpoint)
        try await destination.put("a", size: nil, PieceUpload(patternBytes(count)))
        #expect(bucket.objects == ["backups/a": patternBytes(count)])
        #expect(await backupError { try await destination.put("a", size: nil, PieceUpload([9])) }?.code == .exists)
    }

    @Test(arguments: [10, 3000])
    func `An upload that fails puts nothing, and its error comes back`(count: Int) async throws {
        await #expect(throws: PieceUpload.Failure.self) {
            try await destination.put("a", size: nil, PieceUpload(patternBytes(count), fails: true))
        }
        #expect(bucket.objects.isEmpty)
        #expect(bucket.openUploads == 0)
    }

    @Test(arguments: [10, 3000], [-1, 1])
    func `An upload of another size than was said puts nothing`(count: Int, more: Int) async throws
    {
        let error = await backupError { try await destination.put("a", size: UInt64(count + more), PieceUpload(patternBytes(count))) }
        #expect(error?.code == .invalidArgument)
        #expect(bucket.objects.isEmpty)
        #expect(bucket.openUploads == 0)
    }

    @Test(arguments: [0..<0, 0..<1, 0..<3000, 1..<3000, 1000..<2000, 2999..<3000, 3000..<3000] as [Range<UInt64>])
    func `Any range of an object is read`(range: Range<UInt64>) async throws {
        let bytes = patternBytes(3000)
        bucket.set("backups/a", bytes)
        #expect(try await destination.get("a", range) == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
    }

    @Test(arguments: [0..<3001, 2999..<3001, 3000..<3001, 5000..<5001, 4000..<4000] as [Range<UInt64>])
    func `A range beyond the object's end is damage`(range: Range<UInt64>) async throws {
        bucket.set("backups/a", patternBytes(3000))
        let error = await backupError { _ = try await destination.get("a", range) }
        #expect(error?.code == .damaged)
        #expect(error?.location == "s3://bucket/backups/a")
    }

    @Test(arguments: [0..<0, 0..<10] as [Range<UInt64>])
    func `A missing object is not found, with any range`(range: Range<UInt64>) async throws {
        let error = await backupError { _ = try await destination.get("a/none", range) }
        #expect(error?.code == .notFound)
        #expect(error?.location == "s3://bucket/backups/a/none")
    }

    @Test
    func `An object is deleted, and again`() async throws {
        bucket.set("backups/a", [1])
        bucket.set("backups/ab", [1])
        try await destination.delete("a")
        try await destination.delete("a")
        #expect(Set(bucket.objects.keys) == ["backups/ab"])
    }

    @Test(arguments: [1, 2, 3, 1000])
    func `Objects are listed by prefix, sorted by bytes, over any number of pages`(pageSize: Int)
        async throws
    {
        let bucket = FakeBucket(pageSize: pageSize), log = RequestLog()
        let server = try LoopbackServer { request in
            log.note(request)
            return .answer(bucket.answer(request))
        }
        for (index, key) in ["a/1", "a/10", "a/2", "a.b", "b", "B", "a/_", "a/~"].enumerated() {
            bucket.set("back ups+/\(key)", patternBytes(index))
        }
        bucket.set("back ups+", [1])
        bucket.set("back ups+/", [])
        bucket.set("back ups", [1])
        let destination = try S3Destination.testing(server.endpoint, prefix: "back ups+")
        #expect(try await destination.list(prefix: "").map(\.name) == ["B", "a.b", "a/1", "a/10", "a/2", "a/_", "a/~", "b"])
        #expect(try await destination.list(prefix: "").map(\.size) == [5, 3, 0, 1, 2, 6, 7, 4])
        #expect(try await destination.list(prefix: "a/1").map(\.name) == ["a/1", "a/10"])
        #expect(try await destination.list(prefix: "c").isEmpty)
        if pageSize == 1000 { #expect(log.lines.count == 4) }
    }

    @Test
    func `A destination without a prefix lists the whole bucket`() async throws {
        bucket.set("a", [1])
        bucket.set("b/c", [1, 2])
        let destination = try S3Destination.testing(server.endpoint, prefix: "")
        #expect(try await destination.list(prefix: "") == [BackupObject(name: "a", size: 1), BackupObject(name: "b/c", size: 2)])
        try await destination.put("d", size: 1, BackupBytes([7]))
        #expect(bucket.objects["d"] == [7])
        #expect(destination.description == "s3://bucket")
    }

    @Test(arguments: ["", "/a", "a/", "a//b", "..", "a/../b", "a/.", "a b", "a?b", "é", "a%2Fb"])
    func `A name that could leave the folder is refused before any request`(name: String) async throws {
        #expect(await backupError { try await destination.put(name, size: nil, BackupBytes([1])) }?.code == .invalidArgument)
        #expect(await backupError { _ = try await destination.get(name, 0..<1) }?.code == .invalidArgument)
        #expect(await backupError { try await destination.delete(name) }?.code == .invalidArgument)
        #expect(server.requests == 0)
    }

    @Test
    func `Many tasks use one destination at once`() async throws {
        let destination = destination
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask {
                    let bytes = patternBytes(index * 400, seed: UInt64(index))
                    try await destination.put("o\(index)", size: nil, PieceUpload(bytes))
                    let read = try await destination.get("o\(index)", 0..<UInt64(bytes.count))
                    #expect(read == bytes)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await destination.list(prefix: "o").count == 12)
    }

    @Test
    func `Every request is signed, with the payload's hash where there is no TLS, and with the session's token`() async throws {
        let seen = RequestLog(), bucket = bucket
        let server = try LoopbackServer { request in
            seen.note(request)
            return .answer(bucket.answer(request))
        }
        let destination = try S3Destination.testing(server.endpoint, token: "session-token-1")
        try await destination.put("a", size: nil, BackupBytes(Array("abc".utf8)))
        _ = try await destination.list(prefix: "")
        let all = seen.requests
        #expect(all.allSatisfy { $0.headers["x-amz-security-token"] == "session-token-1" && $0.headers["x-amz-date"] != nil })
        #expect(
            all.first { $0.method == "PUT" }?.headers["x-amz-content-sha256"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(all.first { $0.method == "PUT" }?.headers["authorization"]?.contains("if-none-match") == true)
        #expect(all.first { $0.method == "PUT" }?.headers["content-md5"] == "kAFQmDzST7DWlj99KOF/cg==")
        #expect(all.allSatisfy { $0.headers["host"] == "127.0.0.1:\(server.port)" })
    }
}

/// The requests that a server has seen.
final class RequestLog: Sendable {
    private let list = Mutex<[LoopbackServer.Request]>([])

    func note(_ request: LoopbackServer.Request) { list.withLock { $0.append(request) } }
    var requests: [LoopbackServer.Request] { list.withLock { $0 } }
    var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
}
