@testable import HeartwoodS3
import RecordLog
import Testing

@Suite("Listings of servers that err", .timeLimit(.minutes(2))) struct ListingTests {
    private static func page(_ keys: [String], next: String? = nil) -> LoopbackServer.Reaction {
        let entries = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
        let more = next.map { "<IsTruncated>true</IsTruncated><NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        return .answer(.init(200, text: "<ListBucketResult>\(entries)\(more)</ListBucketResult>"))
    }

    private func list(_ react: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reaction) async throws -> [String] {
        let server = try LoopbackServer(react: react)
        let destination = try S3Destination.testing(server.endpoint)
        return try await destination.list(prefix: "").map(\.name)
    }

    @Test("Pages in another order, and objects on two pages, are sorted and listed once") func unsorted() async throws {
        let names = try await list { request in
            request.query["continuation-token"] == nil ? Self.page(["backups/c", "backups/a"], next: "1") : Self.page(["backups/b", "backups/c"])
        }
        #expect(names == ["a", "b", "c"])
    }

    @Test("An empty page is not the end") func emptyPage() async throws {
        let names = try await list { request in
            request.query["continuation-token"] == nil
                ? Self.page([], next: "a b+/=&amp;") : Self.page(["backups/" + (request.query["continuation-token"] == "a b+/=&" ? "a" : "wrong")])
        }
        #expect(names == ["a"])
    }

    @Test("Pages without an end are refused", arguments: [true, false]) func endless(isSame: Bool) async throws {
        let error = await backupError {
            _ = try await list { Self.page([], next: isSame ? "same" : "\($0.number)") }
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("pages do not end") == true)
    }

    @Test("A key with another prefix is refused") func otherPrefix() async throws {
        #expect(await backupError { _ = try await list { _ in Self.page(["elsewhere/a"]) } }?.code == .refused)
    }

    @Test("An answer that is no listing is refused", arguments: ["", "{}", "<html/>", "<ListBucketResult>"]) func noListing(text: String)
        async throws
    {
        let error = await backupError { _ = try await list { _ in .answer(.init(200, text: text)) } }
        #expect(error?.code == .refused)
        #expect(error?.location == "s3://bucket/backups")
    }
}
