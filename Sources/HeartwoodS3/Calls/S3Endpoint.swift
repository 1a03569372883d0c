import Foundation
internal import RecordLog

/// The server that requests go to, read from a URL such as `https://host:9000/base`.
struct S3Endpoint: Sendable, Hashable {
    let isSecure: Bool
    /// In lower case; an IPv6 address with its brackets. A port only if it is not the scheme's own, as the `Host` header has it.
    let authority: String
    /// Percent-encoded; empty or with a slash at its beginning and none at its end.
    let path: String
    /// The same, as a URL.
    var text: String { (isSecure ? "https://" : "http://") + authority + path }

    init(isSecure: Bool, authority: String, path: String = "") {
        self.isSecure = isSecure
        self.authority = authority
        self.path = path
    }

    /// Errors do not repeat the text, since a URL may hold a password.
    init(_ text: String) throws(BackupError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Self.fault("it is no URL with http:// or https://")
        }
        guard let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty, !host.contains("%") else { throw Self.fault("it names no host") }
        guard parts.user == nil, parts.password == nil else { throw Self.fault("it holds a user or a password, which a URL must not") }
        guard parts.query == nil, parts.fragment == nil else { throw Self.fault("it has a query or a fragment") }
        guard (1...65535).contains(parts.port ?? 1) else { throw Self.fault("its port is not between 1 and 65535") }
        let pathParts = parts.path.split(separator: "/")
        guard !pathParts.contains(where: { $0 == "." || $0 == ".." }) else { throw Self.fault("its path has a part that is . or ..") }
        isSecure = scheme == "https"
        let port = parts.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        // Some versions of Foundation give an IPv6 address without its brackets.
        authority = (host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host) + port
        path = pathParts.map { "/" + PercentEncoding.encoded(String($0)) }.joined()
    }

    private static func fault(_ message: String) -> BackupError {
        BackupError(
            .invalidArgument, "The endpoint of the S3-compatible store", message,
            remedy: "Give the server's address, such as https://s3.example.com or http://127.0.0.1:9000; credentials go into the environment.")
    }
}
