/// Reads bytes that another process may be writing or cutting off at this moment. Reads into separate memory, since a mapped read of
/// bytes that are cut off is a fault that ends the process. Bytes that no longer exist are not a frame.
///
/// A result is valid until the next call and as long as the reader lives: a temporary reader's is not.
final class TailReader {
    private let file: LogFile
    private var ahead = ReadBuffer()

    init(_ file: LogFile) {
        self.file = file
    }

    /// - Returns: nil if the file ends before them.
    func bytes(at offset: UInt64, count: Int, limit: UInt64) throws(StoreError) -> UnsafeRawPointer? {
        try ahead.bytes(at: offset, count: count, limit: limit) { buffer, offset throws(StoreError) in
            try file.storage.read(into: buffer, at: offset)
        }.pointer
    }

    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? {
        guard offset >= FileFormat.dataStart, offset % UInt64(FrameHeader.alignment) == 0,
            let header = try head(at: offset, limit: limit, { FrameHeader($0, limit: $1) }),
            let pointer = try bytes(at: offset, count: Int(header.length), limit: limit),
            FrameHeader.checksum(of: pointer, length: header.length, fileID: file.identity.fileID, offset: offset) == header.checksum
        else { return nil }
        return LogFile.Frame(offset: offset, pointer: pointer, header: header)
    }

    func room(at offset: UInt64) -> UInt64 { file.room(at: offset) }

    func stated(at offset: UInt64, limit: UInt64) throws(StoreError) -> (kind: FrameKind, length: UInt32)? {
        try head(at: offset, limit: limit) { FrameHeader.stated($0, limit: $1) }
    }

    private func head<Result>(
        at offset: UInt64, limit: UInt64, _ body: (UnsafeRawPointer, UInt64) -> Result?
    ) throws(StoreError) -> Result? {
        guard offset < limit, limit - offset >= UInt64(FrameHeader.lengthMin),
            let head = try bytes(at: offset, count: FrameHeader.lengthMin, limit: limit)
        else { return nil }
        return body(head, min(limit - offset, file.room(at: offset)))
    }
}
