import struct Foundation.Data
public import RecordLog

extension S3Destination {
    /// Amazon's largest object.
    private static let objectBytesMax: UInt64 = 5 << 40

    public func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws {
        try check(name)
        guard size ?? 0 <= Self.objectBytesMax else {
            throw BackupError(.invalidArgument, "\(location)/\(name)", "an object has at most 5 TiB", remedy: "Make several archives of it.")
        }
        var parts = UploadParts(upload)
        let first = try await parts.next(partBytes)
        let put = S3Put(self, name)
        if parts.isAtEnd {
            try Self.check(parts, size, "\(location)/\(name)")
            try await put.whole(first)
        } else {
            try await put.inParts(first, &parts, size)
        }
    }

    static func check<Upload>(_ parts: UploadParts<Upload>, _ size: UInt64?, _ subject: String) throws {
        guard let size, parts.taken != size else { return }
        throw BackupError(
            .invalidArgument, subject, "the upload gave \(parts.taken) bytes in place of \(size); nothing was put",
            remedy: "Make the archive again; its source changed or ended early.")
    }
}
