internal import RecordLog

/// The bytes of a range that have arrived so far, and the call for those that lack.
struct S3Download {
    private let range: Range<UInt64>
    private var template: S3Call
    /// The mark of the object's content. A later request holds for the same content only.
    private var mark: String?
    private(set) var bytes: [UInt8] = []

    /// Fewer bytes are no progress, or a server that sends one at a time would hold a download forever.
    private static let progressBytes = 64 << 10

    init(range: Range<UInt64>, call: S3Call) {
        self.range = range
        template = call
    }

    private var next: UInt64 { range.lowerBound + UInt64(bytes.count) }
    var isComplete: Bool { next == range.upperBound }

    var call: S3Call {
        var call = template
        call.headers["range"] = "bytes=\(next)-\(range.upperBound - 1)"
        call.headers["if-match"] = mark
        call.answerMax = max(Int(clamping: range.upperBound - next), S3Call.smallAnswerMax)
        return call
    }

    /// Takes the bytes of an answer, after a check that they are those that were asked for.
    /// - Returns: whether enough arrived to count as progress.
    mutating func take(_ outcome: HTTPOutcome, _ head: HTTPHead, errors: S3Attempts) throws -> Bool {
        func wrong(_ message: String) -> BackupError {
            errors.error(.wrong(outcome, "\(message) to a request of bytes \(next) to \(range.upperBound - 1)"))
        }
        let asked = range.upperBound - next
        if head.status == 206 {
            guard let sent = ContentRange(head.headers["content-range"] ?? "") else { throw wrong("it names no range of bytes") }
            if let size = sent.size, size < range.upperBound { throw Self.short(template.subject, size, asked: range.upperBound) }
            guard sent.range == next..<range.upperBound else {
                throw wrong("it sends bytes \(sent.range.lowerBound) to \(sent.range.upperBound - 1)")
            }
        } else {
            // A server may answer the whole object if it is what was asked for.
            let length = head.headers["content-length"].flatMap { UInt64($0) }
            if next == 0, let length, length < range.upperBound { throw Self.short(template.subject, length, asked: range.upperBound) }
            guard next == 0, length == range.upperBound else { throw wrong("it sends the whole object") }
        }
        if let length = head.headers["content-length"].flatMap({ UInt64($0) }), length != asked { throw wrong("it has \(length) bytes") }
        guard UInt64(outcome.body.count) <= asked else { throw wrong("it has more bytes") }
        mark = head.headers["etag"] ?? mark
        if bytes.isEmpty { bytes = outcome.body } else { bytes += outcome.body }
        return outcome.body.count >= Self.progressBytes
    }

    /// The error for an answer that says something about the object; nil for other faults.
    func error(_ fault: S3Fault) -> BackupError? {
        switch fault.status {
        case 416:
            return BackupError(
                .damaged, template.subject, at: next, "the object ends before byte \(range.upperBound)",
                remedy: "Use another archive that has its commits; `heartwood backup verify` lists what is whole.")
        case 412:
            return BackupError(
                .damaged, template.subject, at: next, "another object took the name while it was read",
                remedy: "Read it again. Objects of a backup never change: see who else writes to the bucket.")
        default: return nil
        }
    }

    static func short(_ subject: String, _ size: UInt64, asked end: UInt64) -> BackupError {
        BackupError(
            .damaged, subject, at: size, "the object has \(size) bytes, and bytes up to \(end) were asked for",
            remedy: "Use another archive that has its commits; `heartwood backup verify` lists what is whole.")
    }
}

/// The header `Content-Range: bytes 0-99/1234`. Spec: RFC 9110, section 14.4.
struct ContentRange: Equatable {
    let range: Range<UInt64>
    /// nil for `*`.
    let size: UInt64?

    init?(_ text: String) {
        let parts = text.split(whereSeparator: { $0 == " " || $0 == "-" || $0 == "/" })
        guard parts.count == 4, parts[0].lowercased() == "bytes", let first = UInt64(parts[1]), let last = UInt64(parts[2]) else { return nil }
        guard first <= last, last < .max else { return nil }
        range = first..<(last + 1)
        size = UInt64(parts[3])
        guard size != nil || parts[3] == "*" else { return nil }
    }
}
