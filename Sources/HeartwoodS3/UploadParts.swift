import struct Foundation.Data
internal import RecordLog

/// Cuts an upload's pieces into parts of given sizes.
struct UploadParts<Upload: BackupUpload> {
    private var upload: Upload
    /// Bytes of the latest piece that no part has taken.
    private var rest: ArraySlice<UInt8> = []
    private var isRead = false
    private(set) var taken: UInt64 = 0

    init(_ upload: Upload) { self.upload = upload }

    /// Whether the parts so far have all bytes. Known once a part has been taken.
    var isAtEnd: Bool { isRead && rest.isEmpty }

    /// The next part: all of `count` bytes, unless the upload ends before. Reads on until it knows whether that is the last one.
    mutating func next(_ count: Int) async throws -> Data {
        var part = Data()
        while true {
            let bytes = rest.prefix(count - part.count)
            part.append(contentsOf: bytes)
            rest = rest.dropFirst(bytes.count)
            guard rest.isEmpty, !isRead else { break }
            if let piece = try await upload.next() { rest = piece[...] } else { isRead = true }
        }
        taken += UInt64(part.count)
        return part
    }
}
