import Foundation
public import RecordLog

extension S3Location {
    /// Reads `s3://bucket/prefix?endpoint=https://host&region=eu-north-1&path-style=true`.
    ///
    /// The three parameters may be left out. The endpoint is then `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` of the environment, or Amazon's;
    /// the region is `AWS_REGION` or `AWS_DEFAULT_REGION`, or `us-east-1`. `path-style=false` names the bucket in the host.
    /// - Throws: code `invalidArgument`. The message does not repeat the URL.
    public init(url: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws(BackupError) {
        guard url.hasPrefix("s3://") else { throw Self.fault("its URL does not begin with s3://") }
        let parts = url.dropFirst(5).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard !names[0].contains("@"), !names[0].contains(":") else {
            throw Self.fault("its URL holds a user, a password or a port beside the bucket's name; credentials go into the environment")
        }
        guard !parts[0].contains("#"), let prefix = PercentEncoding.decoded(names.count > 1 ? names[1] : "") else {
            throw Self.fault("the prefix in its URL is not percent-encoded UTF-8")
        }
        let given = try Self.parameters(parts.count > 1 ? parts[1] : "")
        func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        try self.init(
            bucket: String(names[0]), prefix: prefix, region: given["region"] ?? value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1",
            endpoint: given["endpoint"] ?? value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
            addressing: Self.addressing(given["path-style"]))
    }

    private static func parameters(_ query: Substring) throws(BackupError) -> [String: String] {
        var given: [String: String] = [:]
        for field in query.split(separator: "&") {
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard ["endpoint", "region", "path-style"].contains(name) else {
                // Only the name: the value of such a field might be a secret.
                throw fault("its URL has the parameter '\(name.prefix(40))', which is none of endpoint, region and path-style")
            }
            guard pair.count == 2, !pair[1].isEmpty, let value = PercentEncoding.decoded(pair[1]) else {
                throw fault("the parameter \(name) in its URL has no value, or one that is not percent-encoded UTF-8")
            }
            guard given.updateValue(value, forKey: name) == nil else { throw fault("its URL has the parameter \(name) twice") }
        }
        return given
    }

    private static func addressing(_ pathStyle: String?) throws(BackupError) -> Addressing {
        switch pathStyle {
        case nil: .automatic
        case "true": .path
        case "false": .virtualHosted
        default: throw fault("the parameter path-style in its URL is neither true nor false")
        }
    }
}
