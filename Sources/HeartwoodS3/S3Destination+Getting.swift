internal import RecordLog

extension S3Destination {
    /// The bytes of a range. Where a connection ends early, the next request goes on at the first byte that lacks.
    public func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8] {
        try check(name)
        guard let count = Int(exactly: range.upperBound - range.lowerBound) else {
            throw BackupError(.invalidArgument, "\(location)/\(name)", "the range does not fit into memory", remedy: "Read it in pieces.")
        }
        guard count > 0 else { return try await empty(name, at: range.lowerBound) }
        var download = S3Download(range: range, call: location.call("GetObject", "GET", name, permission: "s3:GetObject"))
        var attempts = S3Attempts(client, download.call)
        while true {
            let (outcome, fault) = try await client.attempt(download.call)
            if let head = outcome.head, head.status == 206 || head.status == 200 {
                if try download.take(outcome, head, errors: attempts) { attempts.noteProgress() }
                if download.isComplete { return download.bytes }
                try await attempts.pause(after: fault ?? S3Fault(.connection("the answer ended early")))
            } else {
                let fault = fault ?? .wrong(outcome, "the answer has no bytes")
                if let error = download.error(fault) { throw error }
                if fault.status == 400 { try await checkSize(name, range.upperBound) }
                try await attempts.pause(after: fault)
            }
        }
    }

    /// Some servers answer 400 to a range behind the object's end, as they do to a malformed request.
    private func checkSize(_ name: String, _ end: UInt64) async throws {
        guard let size = Self.size(try await head(name)), size < end else { return }
        throw S3Download.short("\(location)/\(name)", size, asked: end)
    }

    private static func size(_ head: HTTPHead?) -> UInt64? { head?.headers["content-length"].flatMap { UInt64($0) } }

    /// No request of a range can ask for no bytes.
    private func empty(_ name: String, at offset: UInt64) async throws -> [UInt8] {
        guard let head = try await head(name) else {
            throw BackupError(
                .notFound, "\(location)/\(name)", "no object has the name",
                remedy: "List the objects at the destination; this one was deleted, or its name is another.")
        }
        if let size = Self.size(head), size < offset { throw S3Download.short("\(location)/\(name)", size, asked: offset) }
        return []
    }
}
