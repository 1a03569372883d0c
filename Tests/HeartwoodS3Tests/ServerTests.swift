@testable import HeartwoodS3
import Foundation
import RecordLog
import Testing

/// A real server that a test run was given, by `Tests/S3/run`.
struct GivenServer: Sendable, CustomStringConvertible {
    let name: String
    let url: String

    var description: String { name }

    /// `HEARTWOOD_S3_SERVERS` has `NAME=URL` of each, separated by spaces; the URL as `S3Destination` takes it. The credentials are those of the
    /// environment.
    private static let given: [GivenServer] = (environment["HEARTWOOD_S3_SERVERS"] ?? "").split(separator: " ").compactMap { text in
        let pair = text.split(separator: "=", maxSplits: 1).map(String.init)
        return pair.count == 2 ? GivenServer(name: pair[0], url: pair[1]) : nil
    }
    private static let environment = ProcessInfo.processInfo.environment
    /// Those with a certificate.
    static let secure = given.filter { $0.url.contains("endpoint=https:") }
    /// Those without. A relay can stand before them.
    static let plain = given.filter { !$0.url.contains("endpoint=https:") }
    /// `HEARTWOOD_S3_TRUSTED` says that this system knows the certificates' issuer.
    static let all = plain + (environment["HEARTWOOD_S3_TRUSTED"] == nil ? [] : secure)
    /// Those that check signatures.
    static let checking = all.filter { $0.name != "moto" }
    static let skipMessage = "No S3 server: HEARTWOOD_S3_SERVERS is not set. `Tests/S3/run` starts some and runs these tests."

    /// A destination in a folder of its own. `port` goes to a relay in front of the server.
    func destination(
        port: UInt16? = nil, partBytes: Int = S3Destination.partBytes, attempts: Int = 6, timeout: Double = 20, pageObjects: Int = 1000,
        pathPrefix: String = ""
    )
        throws -> S3Destination
    {
        let given = try S3Location(url: url)
        let prefix = "\(given.prefix)/\(pathPrefix)\(UInt64.random(in: 0...UInt64.max))"
        let location = try S3Location(
            bucket: given.bucket, prefix: prefix, region: given.region, endpoint: port.map { "http://127.0.0.1:\($0)" } ?? given.endpoint,
            addressing: given.addressing)
        let credentials = try S3Credentials(environment: ProcessInfo.processInfo.environment)
        let retries = S3Retries(attempts: attempts, firstPause: 0.01, longestPause: 0.1)
        return S3Destination(location, retries: retries, timeout: timeout, partBytes: partBytes, pageObjects: pageObjects) { credentials }
    }

    var port: UInt16 { UInt16(URLComponents(string: (try? S3Location(url: url))?.endpoint ?? "")?.port ?? 0) }
}

@Suite(.serialized, .enabled(if: !GivenServer.all.isEmpty, Comment(rawValue: GivenServer.skipMessage)), .timeLimit(.minutes(5)))
struct ServerTests {
    @Test(arguments: GivenServer.all, [0, 1, 1000, 300_000])
    func `Objects of every size are put, listed, read by ranges and deleted`(server: GivenServer, count: Int) async throws {
        let destination = try server.destination()
        let bytes = patternBytes(count)
        try await destination.put("a/b.hwlog", size: UInt64(count), PieceUpload(bytes, piece: 100_000))
        #expect(try await destination.list(prefix: "a/") == [BackupObject(name: "a/b.hwlog", size: UInt64(count))])
        let end = UInt64(count)
        for range in Set([0..<end, 0..<min(1, end), end / 2..<end, end / 3..<end / 2, end..<end]) {
            #expect(try await destination.get("a/b.hwlog", range) == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), "\(range)")
        }
        #expect(await backupError { _ = try await destination.get("a/b.hwlog", 0..<(end + 1)) }?.code == .damaged)
        #expect(await backupError { try await destination.put("a/b.hwlog", size: 1, BackupBytes([0])) }?.code == .exists)
        #expect(try await destination.get("a/b.hwlog", 0..<end) == bytes)
        try await destination.delete("a/b.hwlog")
        try await destination.delete("a/b.hwlog")
        #expect(try await destination.list(prefix: "").isEmpty)
        #expect(await backupError { _ = try await destination.get("a/b.hwlog", 0..<1) }?.code == .notFound)
        #expect(await backupError { _ = try await destination.get("a/b.hwlog", 0..<0) }?.code == .notFound)
    }

    @Test(arguments: GivenServer.all, [true, false])
    func `An object in parts is whole, and its name is then taken`(server: GivenServer, isSizeKnown: Bool) async throws {
        // The least part that servers take, and a last one of a byte.
        let destination = try server.destination(partBytes: 5 << 20)
        let bytes = patternBytes(10 << 20) + [7]
        try await destination.put("large", size: isSizeKnown ? UInt64(bytes.count) : nil, PieceUpload(bytes, piece: 1 << 20))
        #expect(try await destination.get("large", 0..<UInt64(bytes.count)) == bytes)
        let error = await backupError { try await destination.put("large", size: nil, PieceUpload(bytes, piece: 1 << 20)) }
        #expect(error?.code == .exists)
        try await destination.delete("large")
    }

    @Test(arguments: GivenServer.all)
    func `An upload that fails leaves no object and no parts`(server: GivenServer) async throws {
        let destination = try server.destination(partBytes: 5 << 20)
        await #expect(throws: PieceUpload.Failure.self) {
            try await destination.put("large", size: nil, PieceUpload(patternBytes(6 << 20), piece: 1 << 20, fails: true))
        }
        #expect(try await destination.list(prefix: "").isEmpty)
        try await destination.put("large", size: 1, BackupBytes([1]))
    }

    @Test(arguments: GivenServer.all)
    func `A listing of several pages is complete, with a prefix of unusual characters`(server: GivenServer)
        async throws
    {
        let destination = try server.destination(pageObjects: 10, pathPrefix: "b+ä &=/")
        let names = (100..<143).map { "x/\($0)" }
        for start in stride(from: 0, to: names.count, by: 8) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in names[start..<min(start + 8, names.count)] {
                    group.addTask { try await destination.put(name, size: 2, BackupBytes([1, 2])) }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await destination.list(prefix: "x/").map(\.name) == names)
        #expect(try await destination.list(prefix: "x/14").map(\.name) == ["x/140", "x/141", "x/142"])
    }

    @Test(arguments: GivenServer.checking)
    func `A wrong secret is refused`(server: GivenServer) async throws {
        let location = try S3Location(url: server.url)
        let id = try S3Credentials(environment: ProcessInfo.processInfo.environment).accessKeyID
        let destination = S3Destination(location, credentials: S3Credentials(accessKeyID: id, secretAccessKey: "wrong-secret"))
        for error in [
            await backupError { _ = try await destination.list(prefix: "") },
            await backupError { try await destination.put("a", size: 1, BackupBytes([1])) },
        ] {
            #expect(error?.code == .refused)
            #expect(error?.description.contains("wrong-secret") == false)
        }
    }

    @Test(arguments: GivenServer.secure)
    func `A server whose certificate is of another host, or of an unknown issuer, is refused at once`(server: GivenServer) async throws {
        let location = try S3Location(url: server.url.replacingOccurrences(of: "localhost", with: "127.0.0.1"))
        let destination = S3Destination(location, credentials: try S3Credentials(environment: ProcessInfo.processInfo.environment))
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("certificate was not accepted") == true, "\(error?.description ?? "")")
        #expect(error?.message.contains("times") == false)
    }

    @Test(arguments: GivenServer.all)
    func `A bucket that does not exist is named`(server: GivenServer) async throws {
        let given = try S3Location(url: server.url)
        let location = try S3Location(bucket: "no-such-bucket", region: given.region, endpoint: given.endpoint, addressing: given.addressing)
        let destination = S3Destination(location, credentials: try S3Credentials(environment: ProcessInfo.processInfo.environment))
        let error = await backupError { _ = try await destination.list(prefix: "") }
        #expect(error?.code == .refused)
        #expect(error?.remedy.contains("no-such-bucket") == true, "\(error?.description ?? "")")
    }
}

@Suite(
    .serialized, .enabled(if: !GivenServer.plain.isEmpty, Comment(rawValue: GivenServer.skipMessage)),
    .timeLimit(.minutes(5)))
struct BadNetworkTests {
    @Test(arguments: GivenServer.plain, [300_000, 6 << 20])
    func `An upload whose connection is cut in the middle is sent again`(server: GivenServer, count: Int) async throws {
        let relay = try Relay(to: server.port) { number in number < 3 ? .cutUpload(after: 100_000) : .pass }
        let destination = try server.destination(port: relay.port, partBytes: 5 << 20)
        let bytes = patternBytes(count)
        try await destination.put("a", size: UInt64(count), PieceUpload(bytes, piece: 1 << 20))
        #expect(try await destination.get("a", 0..<UInt64(count)) == bytes)
        #expect(relay.connections > 1)
        relay.stop()
    }

    @Test(arguments: GivenServer.plain)
    func `A put whose answer is lost is done once, and known again`(server: GivenServer)
        async throws
    {
        let relay = try Relay(to: server.port) { number in number == 0 ? .lose(request: "PUT ") : .pass }
        let destination = try server.destination(port: relay.port)
        try await destination.put("a", size: 3, BackupBytes([1, 2, 3]))
        #expect(try await destination.get("a", 0..<3) == [1, 2, 3])
        #expect(relay.connections > 1)
        relay.stop()
    }

    @Test(arguments: GivenServer.plain)
    func `A download whose connection is cut in the middle goes on`(server: GivenServer)
        async throws
    {
        let bytes = patternBytes(1 << 20)
        let relay = try Relay(to: server.port) { number in number < 2 ? .pass : number < 5 ? .cutDownload(after: 200_000) : .pass }
        let direct = try server.destination()
        try await direct.put("a", size: UInt64(bytes.count), PieceUpload(bytes, piece: 1 << 20))
        let location = try S3Location(
            bucket: direct.location.bucket, prefix: direct.location.prefix, region: direct.location.region,
            endpoint: "http://127.0.0.1:\(relay.port)",
            addressing: direct.location.addressing)
        let credentials = try S3Credentials(environment: ProcessInfo.processInfo.environment)
        let destination = S3Destination(location, credentials: credentials, retries: S3Retries(attempts: 2, firstPause: 0.01), timeout: 20)
        for _ in 0..<6 { #expect(try await destination.get("a", 5..<UInt64(bytes.count)) == Array(bytes[5...])) }
        relay.stop()
    }

    @Test(arguments: GivenServer.plain)
    func `A network that falls silent costs the time-out, and no object`(server: GivenServer)
        async throws
    {
        let relay = try Relay(to: server.port) { number in number == 0 ? .silent : .pass }
        let destination = try server.destination(port: relay.port, timeout: 1)
        try await destination.put("a", size: 3, BackupBytes([1, 2, 3]))
        #expect(try await destination.list(prefix: "") == [BackupObject(name: "a", size: 3)])
        relay.stop()
    }

    @Test(arguments: GivenServer.plain)
    func `A throttling server is asked again until it answers`(server: GivenServer) async throws {
        let relay = try Relay(to: server.port) { number in number % 3 == 2 ? .pass : .throttle }
        let destination = try server.destination(port: relay.port, attempts: 10)
        try await destination.put("a", size: 3, BackupBytes([1, 2, 3]))
        #expect(try await destination.get("a", 0..<3) == [1, 2, 3])
        try await destination.delete("a")
        relay.stop()
    }
}
