internal import HeartwoodDigests

/// Amazon's request signature, version 4.
/// Spec: "Authenticating Requests: Using the Authorization Header" in the Amazon S3 API reference.
struct RequestSigner {
    /// The cover that the signature gives a request's body.
    enum Payload {
        /// The hash of the body. A server refuses a body that was changed on the way.
        case hashed([UInt8])
        /// Over TLS, which guards the body itself.
        case unsigned

        var text: String {
            switch self {
            case .hashed(let hash): Hexadecimal.text(hash)
            case .unsigned: "UNSIGNED-PAYLOAD"
            }
        }
    }

    let credentials: S3Credentials
    let region: String
    var service = "s3"

    /// The headers that the request must have besides the given ones: those of the time, the payload and the token, and the signature.
    /// - Parameters:
    ///   - path: percent-encoded.
    ///   - headers: with `host`; names in lower case. All of them are signed.
    ///   - seconds: since 1970; a server accepts 15 minutes of difference from its own clock.
    func headers(
        method: String, path: String, query: [(name: String, value: String)], headers: [String: String], payload: Payload, seconds: Int64
    ) -> [String: String] {
        let stamp = HTTPDate.stamp(seconds)
        var added = ["x-amz-content-sha256": payload.text, "x-amz-date": stamp]
        added["x-amz-security-token"] = credentials.sessionToken
        let signed = headers.merging(added) { _, new in new }.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
        let names = signed.map(\.key).joined(separator: ";")
        let canonical = [
            method, path, Self.canonical(query), signed.map { "\($0.key):\(Self.trimmed($0.value))\n" }.joined(), names, payload.text,
        ].joined(separator: "\n")
        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        let toSign = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(Hexadecimal.text(SHA256.hash(canonical.utf8)))"
        let signature = Hexadecimal.text(HMAC.sha256(toSign.utf8, key: key(day: String(stamp.prefix(8)))))
        added["authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return added
    }

    /// The query as the signature has it: encoded, then sorted by bytes. A request sends it in this form.
    static func canonical(_ query: [(name: String, value: String)]) -> String {
        let encoded = query.map { (name: PercentEncoding.encoded($0.name), value: PercentEncoding.encoded($0.value)) }
        let sorted = encoded.sorted { a, b in
            a.name == b.name ? a.value.utf8.lexicographicallyPrecedes(b.value.utf8) : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
        }
        return sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private static func trimmed(_ value: String) -> String { value.split(separator: " ").joined(separator: " ") }

    private func key(day: String) -> [UInt8] {
        [day, region, service, "aws4_request"].reduce(Array("AWS4\(credentials.secretAccessKey)".utf8)) { key, part in
            HMAC.sha256(part.utf8, key: key)
        }
    }
}
