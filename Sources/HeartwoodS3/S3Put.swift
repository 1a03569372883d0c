import struct Foundation.Data
internal import HeartwoodDigests
internal import RecordLog

/// One put of an object under a new name.
struct S3Put {
    private let destination: S3Destination
    private let name: String
    /// Goes with the object, so that a put whose answer was lost knows its own object again.
    private let mark = String(UInt64.random(in: 0...UInt64.max), radix: 16) + String(UInt64.random(in: 0...UInt64.max), radix: 16)

    private static let markHeader = "x-amz-meta-heartwood-put"

    init(_ destination: S3Destination, _ name: String) {
        self.destination = destination
        self.name = name
    }

    var client: S3Client { destination.client }

    func call(_ operation: String, _ method: String, _ query: [(name: String, value: String)] = []) -> S3Call {
        var call = destination.location.call(operation, method, name, permission: "s3:PutObject and s3:AbortMultipartUpload")
        call.query = query
        return call
    }

    /// One request.
    func whole(_ bytes: Data) async throws {
        if !destination.location.isAmazon { try await refuseIfTaken() }
        var call = call("PutObject", "PUT")
        call.headers = [Self.markHeader: mark, "content-md5": Self.checksum(bytes)]
        call.body = bytes
        _ = try await once(call)
    }

    /// Sends a call that gives the object its name, on the condition that the name is free.
    /// - Returns: nil if an attempt whose answer was lost had done it.
    func once(_ call: S3Call) async throws -> HTTPOutcome? {
        var call = call, isUncertain = false
        call.headers["if-none-match"] = "*"
        var attempts = S3Attempts(client, call)
        while true {
            let (outcome, fault) = try await client.attempt(call)
            guard let fault else { return outcome }
            switch fault.status {
            case 412:
                if isUncertain, try await isOwn() { return nil }
                throw destination.exists(name)
            case 404 where fault.code == "NoSuchUpload" && isUncertain:
                if try await isOwn() { return nil }
                throw attempts.error(fault)
            case 501 where call.headers["if-none-match"] != nil:
                // An old server says that it does not know the condition.
                call.headers["if-none-match"] = nil
                try await refuseIfTaken()
            default:
                isUncertain = isUncertain || fault.isUncertain
                try await attempts.pause(after: fault)
            }
        }
    }

    func refuseIfTaken() async throws {
        if try await destination.head(name) != nil { throw destination.exists(name) }
    }

    /// Whether the object of the name is the one that this put has sent.
    private func isOwn() async throws -> Bool { try await destination.head(name)?.headers[Self.markHeader] == mark }

    /// The server compares it with the bytes that arrive. A bucket that locks its objects wants it.
    static func checksum(_ bytes: Data) -> String { Data(MD5.hash(bytes)).base64EncodedString() }

    /// The call that begins an upload in parts.
    var beginning: S3Call {
        var call = call("CreateMultipartUpload", "POST", [("uploads", "")])
        call.headers = [Self.markHeader: mark]
        call.body = Data()
        return call
    }
}
