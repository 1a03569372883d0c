public import RecordLog

/// The bucket that holds a destination's objects, and the server that has it.
public struct S3Location: Sendable, Hashable, CustomStringConvertible {
    /// The part of a URL that names the bucket.
    public enum Addressing: String, Sendable {
        /// Virtual-hosted for Amazon, if the bucket's name can be a part of a host's; by path elsewhere.
        case automatic
        /// `https://host/bucket/key`.
        case path
        /// `https://bucket.host/key`.
        case virtualHosted
    }

    public let bucket: String
    /// Every key begins with it and a slash, unless it is empty. It has no slash at its ends.
    public let prefix: String
    public let region: String
    public let addressing: Addressing
    private let server: S3Endpoint
    /// Amazon's servers take conditional puts, so no request has to look first.
    let isAmazon: Bool

    /// - Parameters:
    ///   - prefix: a folder within the bucket; slashes at its ends do not count.
    ///   - region: for servers that know no regions, the default or `auto`.
    ///   - endpoint: the server's URL, with a base path if it has one; nil for Amazon's server of the region.
    /// - Throws: code `invalidArgument`.
    public init(
        bucket: String, prefix: String = "", region: String = "us-east-1", endpoint: String? = nil, addressing: Addressing = .automatic
    ) throws(BackupError) {
        try Self.check(bucket: bucket, region: region)
        self.bucket = bucket
        self.prefix = try Self.checked(prefix: prefix)
        self.region = region
        if let endpoint {
            server = try S3Endpoint(endpoint)
        } else {
            server = S3Endpoint(isSecure: true, authority: "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : ""))
        }
        isAmazon = server.authority.hasSuffix(".amazonaws.com") || server.authority.hasSuffix(".amazonaws.com.cn")
        let canBeHost = bucket.utf8.allSatisfy { !Self.isCapital($0) && !"_.".utf8.contains($0) }
        self.addressing = addressing == .automatic ? (isAmazon && canBeHost ? .virtualHosted : .path) : addressing
    }

    /// The server's URL.
    public var endpoint: String { server.text }

    /// `s3://bucket/prefix`.
    public var description: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    var isSecure: Bool { server.isSecure }
    /// The `Host` header.
    var host: String { addressing == .virtualHosted ? "\(bucket).\(server.authority)" : server.authority }

    func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }

    /// The encoded path of a key; of the bucket without one.
    func path(key: String?) -> String {
        let base = addressing == .virtualHosted ? server.path : "\(server.path)/\(PercentEncoding.encoded(bucket))"
        guard let key else { return base.isEmpty ? "/" : base }
        return "\(base)/\(PercentEncoding.encoded(key, keepsSlashes: true))"
    }

    private static func isCapital(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }

    private static func check(bucket: String, region: String) throws(BackupError) {
        let isName = bucket.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
        guard isName, (1...255).contains(bucket.utf8.count), !bucket.hasPrefix("."), !bucket.hasSuffix(".") else {
            throw fault("the bucket's name is empty or has other characters than letters, digits, '.', '-' and '_'")
        }
        let isRegion = region.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && !isCapital($0) && !"._~".utf8.contains($0) }
        guard isRegion, (1...64).contains(region.utf8.count) else {
            throw fault("the region is empty or has other characters than small letters, digits and '-'")
        }
    }

    private static func checked(prefix: String) throws(BackupError) -> String {
        var rest = prefix[...]
        while rest.hasPrefix("/") { rest.removeFirst() }
        while rest.hasSuffix("/") { rest.removeLast() }
        // The name that follows has at most 512 bytes, a key 1024.
        guard rest.utf8.count <= 511 else { throw fault("the prefix is longer than 511 bytes") }
        guard !rest.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) else {
            throw fault("the prefix has a control character")
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard rest.isEmpty || !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw fault("the prefix has a part that is empty, '.' or '..'")
        }
        return String(rest)
    }

    static func fault(_ message: String) -> BackupError {
        BackupError(
            .invalidArgument, "The S3 destination", message,
            remedy: "Give s3://BUCKET/PREFIX; for a server other than Amazon's with ?endpoint=https://HOST and, if it needs one, &region=REGION.")
    }
}
