@testable import HeartwoodS3
import Foundation
import RecordLog
import Synchronization
import Testing

/// A destination over a bucket whose server, or the connection to it, fails at one request or at all.
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    enum Fault: String, CaseIterable, Sendable {
        /// The server throttles before it does anything.
        case slowDown
        case internalError
        case tooMany
        case badGateway
        /// The server does what it is asked for, and the answer is lost.
        case lostAnswer
        /// As that, with an error of a proxy for an answer.
        case errorAfterwards
        case closed
        /// The connection ends within the request's body, or where there is none, without an answer.
        case cutUpload
        /// The connection ends within the answer's body, or where there is none, within its head.
        case cutAnswer
        case earlyAnswer
        case garbage
        case silence
    }

    /// A bucket whose requests of some numbers meet a fault.
    private static func server(_ bucket: FakeBucket, _ fault: Fault, at isHit: @escaping @Sendable (Int) -> Bool) throws -> LoopbackServer {
        try LoopbackServer { request in
            guard isHit(request.number) else { return .read }
            switch fault {
            case .cutUpload: return .cutUpload(after: (Int(request.headers["content-length"] ?? "") ?? 0) / 2)
            case .earlyAnswer: return .answer(.error(503, "SlowDown", "Please reduce your request rate."))
            default: return .read
            }
        } react: { request in
            guard isHit(request.number) else { return .answer(bucket.answer(request)) }
            switch fault {
            case .slowDown: return .answer(.error(503, "SlowDown", "Please reduce your request rate."))
            case .internalError: return .answer(.error(500, "InternalError"))
            case .tooMany: return .answer(.init(429, ["Retry-After": "0"]))
            case .badGateway: return .answer(.init(502, text: "<html><body>Bad gateway</body></html>"))
            case .errorAfterwards:
                _ = bucket.answer(request)
                return .answer(.init(504, text: "timeout"))
            case .lostAnswer:
                _ = bucket.answer(request)
                return .close
            case .cutAnswer:
                let answer = bucket.answer(request)
                return answer.body.isEmpty ? .raw(Array("HTTP/1.1 200 O".utf8)) : .cut(answer, after: answer.body.count / 2)
            case .garbage: return .raw([0, 1, 2, 13, 10, 13, 10])
            case .silence: return .silence
            case .closed, .cutUpload, .earlyAnswer: return .close
            }
        }
    }

    /// Every operation, each object of another shape. Returns what it saw.
    private static func workload(_ destination: S3Destination) async throws -> [String] {
        var seen: [String] = []
        try await destination.put("small", size: 10, PieceUpload(patternBytes(10)))
        try await destination.put("parts", size: nil, PieceUpload(patternBytes(2500)))
        let error = await backupError { try await destination.put("small", size: 1, PieceUpload([0])) }
        seen.append(error?.code.rawValue ?? "none")
        seen += try await destination.list(prefix: "").map { "\($0.name) \($0.size)" }
        seen.append(try await destination.get("parts", 5..<2400) == Array(patternBytes(2500)[5..<2400]) ? "equal" : "different")
        try await destination.delete("small")
        seen += try await destination.list(prefix: "").map { "\($0.name) \($0.size)" }
        return seen
    }

    private static let result = ["exists", "parts 2500", "small 10", "equal", "parts 2500"]

    @Test(arguments: Fault.allCases)
    func `One fault at any request changes no operation's result`(fault: Fault) async throws {
        // The workload's requests without a fault, with one object a page.
        for index in 0..<14 {
            let bucket = FakeBucket(pageSize: 1)
            let server = try Self.server(bucket, fault) { $0 == index }
            let destination = try S3Destination.testing(server.endpoint, attempts: 20, timeout: fault == .silence ? 0.3 : 10)
            let seen = try await Self.workload(destination)
            #expect(seen == Self.result, "\(fault) at request \(index)")
            #expect(bucket.objects == ["backups/parts": patternBytes(2500)], "\(fault) at request \(index)")
            #expect(server.requests > index, "\(fault) at request \(index)")
            server.stop()
        }
    }

    @Test(arguments: Fault.allCases.filter { $0 != .silence })
    func `Faults at every second request change no operation's result`(
        fault: Fault
    ) async throws {
        let bucket = FakeBucket(pageSize: 1)
        let server = try Self.server(bucket, fault) { $0 % 2 == 0 }
        let destination = try S3Destination.testing(server.endpoint, attempts: 10)
        #expect(try await Self.workload(destination) == Self.result)
    }

    @Test(arguments: Fault.allCases.filter { $0 != .silence })
    func `A server that fails from some request on is named, and every object is whole or absent`(fault: Fault) async throws {
        // The workload's requests without a fault.
        for index in 0..<13 {
            let bucket = FakeBucket()
            let server = try Self.server(bucket, fault) { $0 >= index }
            let destination = try S3Destination.testing(server.endpoint, attempts: 3)
            let error = await backupError { _ = try await Self.workload(destination) }
            #expect(error?.code == .unreachable, "\(fault) from request \(index)")
            #expect(error?.message.contains("3 times") == true, "\(error?.message ?? "")")
            #expect(error?.isTemporary == true)
            for (key, bytes) in bucket.objects {
                #expect(bytes == (key == "backups/small" ? patternBytes(10) : patternBytes(2500)), "\(fault) from request \(index): \(key)")
            }
            server.stop()
        }
    }

    @Test(arguments: [false, true])
    func `A server that never answers is given up after the time without a byte`(isLate: Bool) async throws
    {
        let bucket = FakeBucket()
        bucket.set("backups/a", patternBytes(500))
        let server = try LoopbackServer { isLate ? .stall(bucket.answer($0), after: 100) : .silence }
        let destination = try S3Destination.testing(server.endpoint, attempts: 2, timeout: 0.3)
        let start = ContinuousClock.now
        // Beside other tests each step may wait for seconds. Sleeps beside the transfer tell how long.
        async let waiting = Self.delayOfTwentySleeps()
        let error = await backupError { _ = try await destination.get("a", 0..<500) }
        let seconds = start.duration(to: .now)
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("no byte arrived or left for 0.3 seconds") == true, "\(error?.message ?? "")")
        #expect(seconds < .seconds(20) + (await waiting))
        server.stop()
    }

    /// The time by which twenty sleeps of 30 ms are late.
    private static func delayOfTwentySleeps() async -> Duration {
        let start = ContinuousClock.now
        // The test measures these sleeps.
        for _ in 0..<20 { try? await Task.sleep(for: .milliseconds(30)) }
        return start.duration(to: .now) - .milliseconds(600)
    }

    @Test
    func `A request for a password is a refusal, and does not hang`() async throws {
        let server = try LoopbackServer { _ in .answer(.init(401, ["WWW-Authenticate": "Basic realm=x"], text: "no")) }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.code == .refused)
        #expect(server.requests <= 2)
    }

    @Test
    func `The time limit ends the attempts before their number does`() async throws {
        let server = try LoopbackServer { _ in .answer(.error(503, "SlowDown")) }
        let destination = try S3Destination.testing(server.endpoint, attempts: 1_000_000, timeLimit: 5, longestPause: 1)
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.code == .unreachable)
        // On a busy machine the first answer may come after the time limit.
        #expect((1..<1_000_000).contains(server.requests))
    }

    @Test
    func `The server's request for a pause is heeded`() async throws {
        let bucket = FakeBucket()
        let server = try LoopbackServer { .answer($0.number == 0 ? .init(503, ["Retry-After": "0.4"]) : bucket.answer($0)) }
        let destination = try S3Destination.testing(server.endpoint, longestPause: 2)
        let start = ContinuousClock.now
        #expect(try await destination.list(prefix: "").isEmpty)
        #expect(start.duration(to: .now) >= .seconds(0.4))
    }

    @Test(
        arguments: [
            (403, "AccessDenied", BackupError.Code.refused, "s3:ListBucket"), (403, "SignatureDoesNotMatch", .refused, "AWS_SECRET_ACCESS_KEY"),
            (400, "ExpiredToken", .refused, "AWS_SESSION_TOKEN"), (404, "NoSuchBucket", .refused, "Create the bucket bucket"),
            (400, "InvalidRequest", .refused, "endpoint"), (507, "XMinioStorageFull", .full, "prune"), (403, "QuotaExceeded", .full, "quota"),
            (401, "", .refused, "AWS_ACCESS_KEY_ID"), (302, "", .refused, "endpoint"),
        ])
    func `Refusals are not tried again, and tell what to do`(status: Int, name: String, code: BackupError.Code, remedy: String) async throws {
        let server = try LoopbackServer { _ in
            .answer(.error(status, name, "Words", ["x-amz-request-id": "ID-77", "Location": "http://127.0.0.1:1/"]))
        }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.code == code)
        #expect(error?.remedy.contains(remedy) == true, "\(error?.description ?? "")")
        #expect(
            error?.message == "ListObjectsV2 failed: the server answered \(name.isEmpty ? "\(status)" : "\(status) \(name)")"
                + ", “Words” (request ID ID-77)")
        #expect(error?.location == "s3://bucket/backups")
        #expect(server.requests == 1)
    }

    @Test
    func `A bucket in another region is said to be there`() async throws {
        let moved = try LoopbackServer { _ in .answer(.error(301, "PermanentRedirect", "x", ["x-amz-bucket-region": "eu-north-1"])) }
        let inBody = try LoopbackServer { _ in .answer(.error(400, "AuthorizationHeaderMalformed", "x", more: "<Region>eu-north-1</Region>")) }
        for server in [moved, inBody] {
            let destination = try S3Destination.testing(server.endpoint)
            for error in [
                await backupError { _ = try await destination.list(prefix: "") }, await backupError { try await destination.delete("a") },
            ] {
                #expect(error?.code == .refused)
                #expect(error?.remedy == "Give the bucket's region, eu-north-1, in place of us-east-1.")
            }
        }
    }

    @Test
    func `Credentials that a server repeats are in no error`() async throws {
        let secrets = S3Destination.testSecret + " " + S3Destination.testKeyID + " token-0123456789"
        let server = try LoopbackServer { _ in .answer(.error(403, "SignatureDoesNotMatch", "Got \(secrets)\u{7}\n")) }
        let destination = try S3Destination.testing(server.endpoint, token: "token-0123456789")
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.message.contains("Got … … …") == true, "\(error?.message ?? "")")
        var dumped = ""
        dump(destination, to: &dumped)
        for secret in [S3Destination.testSecret, S3Destination.testKeyID, "token-0123456789"] {
            #expect("\(error.debugDescription) \(destination) \(dumped)".contains(secret) == false)
        }
    }

    /// A time as a `Date` header has it.
    private static func header(_ seconds: Int64) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"], stamp = HTTPDate.stamp(seconds)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func part(_ start: Int) -> Substring { stamp.dropFirst(start).prefix(2) }
        let month = months[(Int(part(4)) ?? 1) - 1]
        return "\(days[Int(seconds / 86400 % 7)]), \(part(6)) \(month) \(stamp.prefix(4)) \(part(9)):\(part(11)):\(part(13)) GMT"
    }

    @Test(arguments: [-86_400, 86_400] as [Int64])
    func `The server's clock is taken where it refuses this machine's`(ahead: Int64)
        async throws
    {
        let bucket = FakeBucket()
        let server = try LoopbackServer { request in
            // To the minute; the test may run around its end.
            let now = Int64(Date().timeIntervalSince1970) + ahead
            let near = [now - 60, now, now + 60].map { HTTPDate.stamp($0).prefix(13) }
            if let stamp = request.headers["x-amz-date"], near.contains(stamp.prefix(13)) { return .answer(bucket.answer(request)) }
            let date = Self.header(now)
            return .answer(request.method == "HEAD" ? .init(403, ["Date": date]) : .error(403, "RequestTimeTooSkewed", "", ["Date": date]))
        }
        let destination = try S3Destination.testing(server.endpoint)
        try await destination.put("a", size: 3, BackupBytes([1, 2, 3]))
        #expect(bucket.objects == ["backups/a": [1, 2, 3]])
        // One refusal for all requests.
        #expect(server.requests == 3)
        #expect(try await destination.get("a", 0..<3) == [1, 2, 3])
    }

    @Test
    func `A server that refuses its own time is named`() async throws {
        let server = try LoopbackServer { _ in
            .answer(.error(403, "RequestTimeTooSkewed", "The difference is too large.", ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"]))
        }
        let destination = try S3Destination.testing(server.endpoint)
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.code == .refused)
        #expect(error?.remedy.contains("clock") == true)
        #expect(server.requests == 2)
    }
}
