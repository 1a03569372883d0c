import Foundation
public import RecordLog

/// The key that signs requests. Its texts never appear in a description, a mirror or an error.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let accessKeyID: String
    public let secretAccessKey: String
    /// The token of temporary credentials.
    public let sessionToken: String?

    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, for temporary credentials, `AWS_SESSION_TOKEN`.
    /// - Throws: `BackupError` with code `invalidArgument` if one of the first two is missing or empty.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(BackupError) {
        // A line's end that came with a value from a file would spoil every signature.
        func value(_ name: String) -> String? {
            let text = environment[name]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
            return text.isEmpty ? nil : text
        }
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
        guard let id = value(names[0]), let secret = value(names[1]) else {
            let missing = names.filter { value($0) == nil }.joined(separator: " and ")
            throw BackupError(
                .invalidArgument, "The environment", "it has no \(missing), which sign requests to an S3-compatible store",
                remedy: "Set \(missing), and AWS_SESSION_TOKEN if the credentials are temporary.")
        }
        self.init(accessKeyID: id, secretAccessKey: secret, sessionToken: value("AWS_SESSION_TOKEN"))
    }

    public var description: String { "S3Credentials(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A server's text without these credentials, which it may have echoed.
    func redacted(_ text: String) -> String {
        [accessKeyID, secretAccessKey, sessionToken ?? ""].filter { $0.utf8.count >= 4 }.reduce(text) { text, secret in
            text.replacingOccurrences(of: secret, with: "…")
        }
    }
}
