import Foundation
@testable import HeartwoodS3
import RecordLog
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct ListingTests {
    private static func page(_ keys: [String], next: String? = nil) -> LoopbackServer.Reaction {
        let entries = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
        let more = next.map { "<IsTruncated>true</IsTruncated><NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        return .answer(.init(200, text: "<ListBucketResult>\(entries)\(more)</ListBucketResult>"))
    }

    private func list(_ react: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reaction) async throws -> [String] {
        let server = try LoopbackServer(react: react)
        let destination = try S3Destination.testing(server.endpoint, poorPagesMax: 50)
        return try await destination.list(prefix: "").map(\.name)
    }

    @Test
    func `Pages in another order, and objects on two pages, are sorted and listed once`() async throws {
        let names = try await list { request in
            request.query["continuation-token"] == nil ? Self.page(["backups/c", "backups/a"], next: "1") : Self.page(["backups/b", "backups/c"])
        }
        #expect(names == ["a", "b", "c"])
    }

    @Test
    func `An empty page is not the end`() async throws {
        let names = try await list { request in
            request.query["continuation-token"] == nil
                ? Self.page([], next: "a b+/=&amp;") : Self.page(["backups/" + (request.query["continuation-token"] == "a b+/=&" ? "a" : "wrong")])
        }
        #expect(names == ["a"])
    }

    @Test(arguments: [true, false])
    func `Pages without an end are refused`(isSame: Bool) async throws {
        let error = await backupError {
            _ = try await list { Self.page([], next: isSame ? "same" : "\($0.number)") }
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("pages do not end") == true)
    }

    /// A server that repeats its objects, or that sends new ones by ones and twos, under a new token each time.
    @Test(arguments: [0, 1, 2])
    func `Pages that hardly get on are refused too`(newObjects: Int) async throws {
        let requests = Mutex(0)
        let error = await backupError {
            _ = try await list { request in
                requests.withLock { $0 += 1 }
                let new = (0..<newObjects).map { "backups/\(request.number)-\($0)" }
                return Self.page(["backups/same"] + new, next: "token \(request.number)")
            }
        }
        #expect(error?.message.contains("pages do not end") == true)
        #expect(requests.withLock { $0 } <= 65)
    }

    @Test
    func `Sizes of any number are listed, and nothing that reads them overflows`() async throws {
        let store = String(repeating: "a", count: 32)
        func name(_ first: Int, _ last: Int, _ end: String) -> String {
            func digits(_ number: Int) -> String { String(repeating: "0", count: 20 - String(number).count) + String(number) }
            return "\(store)/\(store)/0000000000000001-\(digits(first))-\(digits(last))-0000000000000001-0000000000000002\(end).hwlog"
        }
        let names = [name(1, 2, "-base"), name(3, 4, ""), name(5, 6, "")]
        let server = try LoopbackServer { request in
            guard request.query["list-type"] != nil else { return .answer(.init(request.method == "HEAD" ? 404 : 200)) }
            let sizes = ["9223372036854775808", "18446744073709551615", "9223372036854775809"]
            let prefix = request.query["prefix"] ?? ""
            let entries = zip(names, sizes).filter { "backups/\($0.0)".hasPrefix(prefix) }.map { "<Contents><Key>backups/\($0)</Key><Size>\($1)</Size></Contents>" }.joined()
            return .answer(.init(200, text: "<ListBucketResult>\(entries)</ListBucketResult>"))
        }
        let destination = try S3Destination.testing(server.endpoint, attempts: 1)
        #expect(try await destination.list(prefix: "").map(\.size).sorted() == [1 << 63, 1 << 63 + 1, .max])
        let archives = BackupArchives(at: destination)
        #expect(try await archives.list().map(\.newest) == [6])
        #expect(try await archives.verify().count == 3)
        #expect(try await archives.merge().made == 0)
        var policy = RetentionPolicy()
        policy.last = 1
        #expect(try await archives.prune(keeping: policy, isTrial: true).keptArchives == 3)
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("huge-\(UUID()).heartwood").path
        #expect(await backupError { try await StoreRestore(from: destination, to: target).run() }?.code == .damaged)
        #expect(await backupError { try await StoreReplica(from: destination, at: target).update() }?.code == .damaged)
    }

    @Test
    func `A key with another prefix is refused`() async throws {
        #expect(await backupError { _ = try await list { _ in Self.page(["elsewhere/a"]) } }?.code == .refused)
    }

    @Test(arguments: ["", "{}", "<html/>", "<ListBucketResult>"])
    func `An answer that is no listing is refused`(text: String)
        async throws
    {
        let error = await backupError { _ = try await list { _ in .answer(.init(200, text: text)) } }
        #expect(error?.code == .refused)
        #expect(error?.location == "s3://bucket/backups")
    }
}
