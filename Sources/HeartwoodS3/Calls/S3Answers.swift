/// One page of a listing.
struct S3ListPage {
    var objects: [(key: String, size: UInt64)] = []
    /// nil at the last page.
    var next: String?

    /// nil if the document is no listing.
    init?(_ root: XMLNode) {
        guard root.name == "ListBucketResult" else { return nil }
        let isEncoded = root["EncodingType"] == "url"
        for entry in root.all("Contents") {
            guard let raw = entry["Key"], let key = isEncoded ? PercentEncoding.decoded(raw, plusIsSpace: true) : raw else { return nil }
            guard let size = entry["Size"].flatMap({ UInt64($0) }) else { return nil }
            objects.append((key, size))
        }
        guard root["IsTruncated"] == "true" else { return }
        guard let token = root["NextContinuationToken"], !token.isEmpty else { return nil }
        next = token
    }
}

/// The error that a server's answer describes.
struct S3ErrorAnswer {
    let code: String
    let message: String
    let requestID: String?
    /// The region that the bucket lies in, if the request went to another.
    let region: String?

    init?(_ body: [UInt8]) {
        guard let root = try? XMLNode.read(body) else { return nil }
        // Some servers wrap it, as Amazon's other services do.
        guard let node = root.name == "Error" ? root : root.children.first(where: { $0.name == "Error" }), let code = node["Code"] else {
            return nil
        }
        self.code = code
        message = node["Message"] ?? ""
        requestID = node["RequestId"] ?? root["RequestId"]
        region = node["Region"]
    }
}
