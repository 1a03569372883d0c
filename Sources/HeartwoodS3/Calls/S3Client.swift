import Foundation
internal import HeartwoodDigests
internal import RecordLog
import Synchronization

/// Signs and sends calls to one bucket. It remembers how far the server's clock is ahead.
final class S3Client: Sendable {
    let location: S3Location
    let retries: S3Retries
    private let credentials: @Sendable () async throws -> S3Credentials
    private let session: HTTPSession
    private let secondsAhead = Mutex<Int64>(0)

    init(_ location: S3Location, retries: S3Retries, silenceMax: Double, credentials: @escaping @Sendable () async throws -> S3Credentials) {
        self.location = location
        self.retries = retries
        self.credentials = credentials
        session = HTTPSession(silenceMax: silenceMax)
    }

    /// The answer to a call, which is tried again as often as the policy says.
    func perform(_ call: S3Call) async throws -> HTTPOutcome {
        var attempts = S3Attempts(self, call)
        while true {
            let (outcome, fault) = try await attempt(call)
            guard let fault else { return outcome }
            try await attempts.pause(after: fault)
        }
    }

    /// Sends a call once.
    /// - Throws: `CancellationError`, or an error of the credentials' source.
    func attempt(_ call: S3Call) async throws -> (outcome: HTTPOutcome, fault: S3Fault?) {
        try Task.checkCancellation()
        let credentials = try await credentials()
        let now = Int64(Date().timeIntervalSince1970)
        let outcome = await session.send(signed(call, credentials, seconds: now + secondsAhead.withLock { $0 }))
        try Task.checkCancellation()
        return (outcome, fault(of: outcome, call, credentials, now))
    }

    func setClock(secondsAhead seconds: Int64) { secondsAhead.withLock { $0 = seconds } }

    private func signed(_ call: S3Call, _ credentials: S3Credentials, seconds: Int64) -> HTTPRequest {
        let path = location.path(key: call.key)
        // TLS guards the body, and archives have checksums of their own. Without TLS the signature has to cover the body.
        let payload: RequestSigner.Payload = location.isSecure && call.body != nil ? .unsigned : .hashed(SHA256.hash(call.body ?? Data()))
        let headers = call.headers.merging(["host": location.host]) { given, _ in given }
        let signer = RequestSigner(credentials: credentials, region: location.region)
        let added = signer.headers(
            method: call.method, path: path, query: call.query, headers: headers, payload: payload, seconds: seconds)
        let query = RequestSigner.canonical(call.query)
        return HTTPRequest(
            method: call.method, url: "\(location.isSecure ? "https" : "http")://\(location.host)\(path)" + (query.isEmpty ? "" : "?\(query)"),
            headers: headers.merging(added) { _, new in new }, body: call.body, answerMax: call.answerMax, patience: call.patience)
    }

    /// nil for a whole answer with a status that says success.
    private func fault(of outcome: HTTPOutcome, _ call: S3Call, _ credentials: S3Credentials, _ now: Int64) -> S3Fault? {
        guard let head = outcome.head else { return S3Fault(outcome.fault ?? .connection("the server closed it without an answer")) }
        guard !(200..<300).contains(head.status) else { return outcome.fault.map(S3Fault.init) ?? errorInside(outcome, call, credentials) }
        let answer = S3ErrorAnswer(outcome.body)
        // The rest of the answer would have told the reason.
        if answer == nil, case .connection(let text) = outcome.fault { return S3Fault(.connection(text)) }
        return fault(answer: answer, head, call, credentials, now)
    }

    /// A long operation sends its status before it knows its result, and tells a failure in the body.
    private func errorInside(_ outcome: HTTPOutcome, _ call: S3Call, _ credentials: S3Credentials) -> S3Fault? {
        guard call.operation == "CompleteMultipartUpload", let answer = S3ErrorAnswer(outcome.body), let head = outcome.head else { return nil }
        var fault = fault(answer: answer, head, call, credentials, 0)
        fault.kind = S3Fault.isTemporary(status: head.status, code: answer.code) ? .temporary : .permanent
        return fault
    }

    private func fault(answer: S3ErrorAnswer?, _ head: HTTPHead, _ call: S3Call, _ credentials: S3Credentials, _ now: Int64) -> S3Fault {
        let code = Self.printable(answer?.code ?? "", max: 60)
        var fault = S3Fault(
            kind: S3Fault.isTemporary(status: head.status, code: code) ? .temporary : .permanent, status: head.status, code: code,
            message: Self.printable(credentials.redacted(answer?.message ?? ""), max: 300),
            requestID: (head.headers["x-amz-request-id"] ?? answer?.requestID).map { Self.printable($0, max: 80) },
            region: (answer?.region ?? head.headers["x-amz-bucket-region"]).map { Self.printable($0, max: 64) },
            retryAfter: head.headers["retry-after"].flatMap { Double($0) }.map { max(0, $0) })
        // The answer to HEAD has no body that names the reason.
        let isAboutTime = code == "RequestTimeTooSkewed" || code.isEmpty && call.method == "HEAD"
        if head.status == 403, isAboutTime, let server = head.headers["date"].flatMap(HTTPDate.seconds) {
            let ahead = server - now
            if code == "RequestTimeTooSkewed" || abs(ahead - secondsAhead.withLock { $0 }) > 300 { fault.kind = .skewed(seconds: ahead) }
        }
        return fault
    }

    /// A server's text for a line of an error.
    private static func printable(_ text: String, max length: Int) -> String {
        let clean = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        return clean.count > length ? clean.prefix(length) + "…" : clean
    }
}
