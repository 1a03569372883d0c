/// The reason why one request failed.
struct S3Fault: Error, Equatable {
    enum Kind: Equatable {
        /// Another attempt may succeed.
        case temporary
        case permanent
        /// The server's clock is so many seconds ahead of this machine's, and it refuses the signature's time.
        case skewed(seconds: Int64)
    }

    var kind: Kind
    /// The answer's status; nil if there was no answer.
    var status: Int?
    /// The server's code, such as `SlowDown`; empty if it gave none.
    var code = ""
    /// The end of a sentence: `the connection was lost`, or the server's own words.
    var message: String
    var requestID: String?
    /// The region of the bucket, if the server named it.
    var region: String?
    /// Seconds that the server asks to wait.
    var retryAfter: Double?
    /// Whether the server may have done what the request asks for.
    var isUncertain: Bool { status.map { $0 >= 500 || $0 == 408 } ?? true }

    private static let temporaryCodes: Set<String> = [
        "SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "Busy", "Throttling", "ThrottlingException", "TooManyRequests",
        "RequestLimitExceeded", "BandwidthLimitExceeded", "OperationAborted", "ConditionalRequestConflict",
        // The body was changed or cut on the way.
        "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody",
    ]

    static func isTemporary(status: Int, code: String) -> Bool {
        if temporaryCodes.contains(code) || status == 429 || status == 408 { return true }
        // Not implemented, version not supported, no space.
        return status >= 500 && ![501, 505, 507].contains(status)
    }

    /// The failure of a transfer.
    init(_ fault: HTTPFault) {
        let (kind, message): (Kind, String) =
            switch fault {
            case .connection(let text): (.temporary, "the connection failed (\(text))")
            case .silence(let seconds): (.temporary, "no byte arrived or left for \(S3Fault.text(seconds)) seconds")
            case .slowness(let seconds): (.temporary, "the transfer was not complete after \(S3Fault.text(seconds)) seconds")
            case .certificate(let text): (.permanent, "the server's certificate was not accepted (\(text))")
            case .tooLong(let bytes): (.permanent, "the answer has more than the \(bytes) bytes that it may have")
            case .address(let text): (.permanent, "\(text) is no address")
            case .cancelled: (.temporary, "the transfer was cancelled")
            }
        self.init(kind: kind, message: message)
    }

    init(
        kind: Kind, status: Int? = nil, code: String = "", message: String, requestID: String? = nil, region: String? = nil,
        retryAfter: Double? = nil
    ) {
        self.kind = kind
        self.status = status
        self.code = code
        self.message = message
        self.requestID = requestID
        self.region = region
        self.retryAfter = retryAfter
    }

    /// An answer that is no error, but not what the request asked for.
    static func wrong(_ outcome: HTTPOutcome, _ message: String) -> S3Fault {
        S3Fault(kind: .permanent, status: outcome.head?.status, message: message, requestID: outcome.head?.headers["x-amz-request-id"])
    }

    private static func text(_ seconds: Double) -> String { seconds >= 10 ? String(Int(seconds)) : String((seconds * 10).rounded() / 10) }
}
