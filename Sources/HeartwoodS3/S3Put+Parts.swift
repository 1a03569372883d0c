import struct Foundation.Data
internal import RecordLog

extension S3Put {
    /// Several requests, each of which is tried again by itself. A failure removes the parts.
    func inParts<Upload: BackupUpload>(_ first: Data, _ parts: inout UploadParts<Upload>, _ size: UInt64?) async throws {
        // Servers look at the condition only when the last request comes.
        try await refuseIfTaken()
        let upload = try await begin()
        do {
            let marks = try await send(first, &parts, size, upload)
            try await complete(upload, marks)
        } catch {
            await abort(upload)
            throw error
        }
    }

    private func begin() async throws -> String {
        let call = beginning
        let outcome = try await client.perform(call)
        guard let root = try? XMLNode.read(outcome.body), root.name == "InitiateMultipartUploadResult",
            let upload = root["UploadId"], !upload.isEmpty
        else { throw S3Attempts(client, call).error(.wrong(outcome, "the answer names no upload")) }
        return upload
    }

    private func send<Upload: BackupUpload>(
        _ first: Data, _ parts: inout UploadParts<Upload>, _ size: UInt64?, _ upload: String
    ) async throws -> [String] {
        let sizes = PartSizes(least: first.count, size: size)
        var marks: [String] = []
        // The first bytes were read before it was known that there are more; they may be fewer than a part.
        var part = first
        let missing = sizes.size(of: 1) - first.count
        if missing > 0 { part.append(try await parts.next(missing)) }
        while true {
            guard marks.count < PartSizes.partMax else {
                throw BackupError(
                    .invalidArgument, beginning.subject, "the upload is larger than 10,000 parts", remedy: "Give the size with the put.")
            }
            marks.append(try await send(part, number: marks.count + 1, upload))
            if parts.isAtEnd { break }
            part = try await parts.next(sizes.size(of: marks.count + 1))
        }
        try S3Destination.check(parts, size, beginning.subject)
        return marks
    }

    /// The server's mark of the part.
    private func send(_ part: Data, number: Int, _ upload: String) async throws -> String {
        var call = call("UploadPart", "PUT", [("partNumber", String(number)), ("uploadId", upload)])
        call.headers["content-md5"] = Self.checksum(part)
        call.body = part
        let outcome = try await client.perform(call)
        guard let mark = outcome.head?.headers["etag"], !mark.isEmpty else {
            throw S3Attempts(client, call).error(.wrong(outcome, "the answer to part \(number) has no ETag"))
        }
        return mark
    }

    private func complete(_ upload: String, _ marks: [String]) async throws {
        let list = marks.enumerated().map { index, mark in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(mark))</ETag></Part>"
        }
        var call = call("CompleteMultipartUpload", "POST", [("uploadId", upload)])
        call.headers["content-type"] = "application/xml"
        call.body = Data(
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(list.joined())</CompleteMultipartUpload>".utf8)
        // The server may put the parts together first, which takes minutes for thousands.
        call.patience = 5
        guard let outcome = try await once(call) else { return }
        guard let root = try? XMLNode.read(outcome.body), root.name == "CompleteMultipartUploadResult" else {
            throw S3Attempts(client, call).error(.wrong(outcome, "the answer does not say that the upload is complete"))
        }
    }

    /// Removes the parts, also where the task was cancelled. A rule of the bucket has to remove what a lost connection leaves.
    private func abort(_ upload: String) async {
        let call = call("AbortMultipartUpload", "DELETE", [("uploadId", upload)])
        let client = self.client
        await Task { _ = try? await client.perform(call) }.value
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
