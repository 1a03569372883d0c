import Foundation
public import RecordLog

/// A bucket of Amazon S3, or of a server that speaks its protocol, as a destination of backups.
///
/// ```swift
/// let destination = try S3Destination(url: "s3://backups/shop?endpoint=https://s3.example.com&region=eu-north-1")
/// ```
///
/// Objects appear whole: by one put, or above ``partBytes`` by an upload in parts. A put fails with `exists` where the name is taken. Amazon
/// and many servers check that themselves (`If-None-Match: *`). For servers that ignore this header, a destination whose endpoint is not
/// Amazon's looks for the name first; two machines that put one new name at the same moment can then both succeed, and the later bytes stay.
///
/// Faults that may pass are tried again as ``S3Retries`` says. Errors are `BackupError`s with the object's URL, the server's code and its
/// request ID. Credentials are in no error and no description.
public final class S3Destination: BackupDestination {
    public let location: S3Location
    let client: S3Client
    /// The most bytes of one put, and the size of a part.
    let partBytes: Int
    /// The most objects of a listing's page.
    let pageObjects: Int
    /// So many pages may bring nothing new, or hold less than ten new objects each. A server that gives a new token for each page, and the same
    /// objects again or hardly any, must not hold a listing forever.
    let poorPagesMax: Int

    /// The most bytes of one put, and the least size of a part: 8 MiB. A put holds one part in memory.
    public static let partBytes = 8 << 20

    /// - Parameters:
    ///   - credentials: sign all requests.
    ///   - timeout: seconds without a byte after which a request counts as lost.
    public convenience init(_ location: S3Location, credentials: S3Credentials, retries: S3Retries = S3Retries(), timeout: Double = 30) {
        self.init(location, retries: retries, timeout: timeout) { credentials }
    }

    /// - Parameter credentials: is asked before each request, so that temporary credentials can be renewed. It should keep them while they hold.
    public convenience init(
        _ location: S3Location, retries: S3Retries = S3Retries(), timeout: Double = 30,
        credentials: @escaping @Sendable () async throws -> S3Credentials
    ) {
        self.init(location, retries: retries, timeout: timeout, partBytes: Self.partBytes, credentials: credentials)
    }

    /// - Parameters:
    ///   - url: `s3://bucket/prefix?endpoint=…&region=…&path-style=true`; see ``S3Location/init(url:environment:)``.
    ///   - environment: has the credentials, and the endpoint and the region that the URL leaves out.
    /// - Throws: `BackupError` with code `invalidArgument`.
    public convenience init(
        url: String, environment: [String: String] = ProcessInfo.processInfo.environment, retries: S3Retries = S3Retries(), timeout: Double = 30
    ) throws(BackupError) {
        let location = try S3Location(url: url, environment: environment)
        self.init(location, credentials: try S3Credentials(environment: environment), retries: retries, timeout: timeout)
    }

    /// For tests, which take small parts and pages.
    init(
        _ location: S3Location, retries: S3Retries, timeout: Double, partBytes: Int, pageObjects: Int = 1000, poorPagesMax: Int = 1000,
        credentials: @escaping @Sendable () async throws -> S3Credentials
    ) {
        self.location = location
        self.partBytes = partBytes
        self.pageObjects = pageObjects
        self.poorPagesMax = poorPagesMax
        client = S3Client(location, retries: retries, silenceMax: timeout, credentials: credentials)
    }

    public var description: String { location.description }

    public func delete(_ name: String) async throws {
        try check(name)
        let call = location.call("DeleteObject", "DELETE", name, permission: "s3:DeleteObject")
        var attempts = S3Attempts(client, call)
        while let fault = try await client.attempt(call).fault {
            // Amazon answers 204 for a missing object, some servers 404.
            if fault.status == 404, fault.code.isEmpty || fault.code == "NoSuchKey" { return }
            try await attempts.pause(after: fault)
        }
    }

    /// An object's headers; nil if no object has the name.
    func head(_ name: String) async throws -> HTTPHead? {
        let call = location.call("HeadObject", "HEAD", name, permission: "s3:GetObject and s3:ListBucket")
        var attempts = S3Attempts(client, call)
        while true {
            let (outcome, fault) = try await client.attempt(call)
            guard let fault else { return outcome.head }
            if fault.status == 404 { return nil }
            try await attempts.pause(after: fault)
        }
    }

    /// Foundation would change a path with other characters or with parts that are dots.
    func check(_ name: String) throws {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isName = name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }
        guard isName, name.utf8.count <= 512, !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw BackupError(
                .invalidArgument, description, "“\(name.prefix(80))” is no name of an object",
                remedy: "Join parts of letters, digits, '.', '_' and '-' by slashes; no part may be empty, '.' or '..'.")
        }
    }

    func exists(_ name: String) -> BackupError {
        BackupError(.exists, "\(location)/\(name)", "the name is taken", remedy: "Choose another name, or delete the object first.")
    }
}
