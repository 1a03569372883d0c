public import RecordLog

extension S3Destination {
    /// A listing's page has at most 1000 objects, with names of at most 1024 bytes that an encoding may treble.
    private static let pageBytesMax = 8 << 20
    /// A backup has far fewer objects. A server that goes on forever must not take all memory.
    private static let objectsMax = 10_000_000

    public func list(prefix: String) async throws -> [BackupObject] {
        let start = location.prefix.isEmpty ? "" : location.prefix + "/"
        // Pages may overlap where objects come while they are read.
        var sizes: [String: UInt64] = [:]
        var token: String?
        var pages = 0
        repeat {
            let (page, outcome) = try await page(start + prefix, token)
            for (key, size) in page.objects {
                guard key.hasPrefix(start + prefix) else { throw wrongPage("it lists “\(key.prefix(100))”, which has another prefix", outcome) }
                // Consoles make an object that stands for the folder itself.
                if key != start { sizes[String(key.dropFirst(start.count))] = size }
            }
            pages += 1
            guard page.next == nil || page.next != token, pages - sizes.count / 10 < poorPagesMax, sizes.count <= Self.objectsMax else {
                throw wrongPage("its pages do not end", outcome)
            }
            token = page.next
        } while token != nil
        // Not every server sorts.
        return sizes.map { BackupObject(name: $0, size: $1) }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private func page(_ prefix: String, _ token: String?) async throws -> (S3ListPage, HTTPOutcome) {
        var call = listCall
        call.query = [("list-type", "2"), ("encoding-type", "url"), ("max-keys", String(pageObjects)), ("prefix", prefix)]
        if let token { call.query.append(("continuation-token", token)) }
        let outcome = try await client.perform(call)
        guard let root = try? XMLNode.read(outcome.body), let page = S3ListPage(root) else { throw wrongPage("it is no listing", outcome) }
        return (page, outcome)
    }

    private var listCall: S3Call {
        var call = S3Call(
            operation: "ListObjectsV2", subject: description, permission: "s3:ListBucket", method: "GET", key: nil)
        call.answerMax = Self.pageBytesMax
        return call
    }

    private func wrongPage(_ message: String, _ outcome: HTTPOutcome) -> BackupError {
        S3Attempts(client, listCall).error(.wrong(outcome, "the answer is of no use: \(message)"))
    }
}
