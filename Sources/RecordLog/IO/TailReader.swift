/// A log as a walk meets its frames. No protocol, since a generic walk would have its type made at each opening.
enum WalkedLog {
    case file(LogFile)
    case tail(TailReader)

    /// Whether a frame's bytes stay where they are when the next one is asked for.
    var keepsFrames: Bool {
        if case .file = self { return true }
        return false
    }

    /// As `LogFile.frame`.
    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? {
        switch self {
        case .file(let file): try file.frame(at: offset, limit: limit)
        case .tail(let tail): try tail.frame(at: offset, limit: limit)
        }
    }

    /// As `LogFile.stated`.
    func stated(at offset: UInt64, limit: UInt64) throws(StoreError) -> (kind: FrameKind, length: UInt32)? {
        switch self {
        case .file(let file): try file.stated(at: offset, limit: limit)
        case .tail(let tail): try tail.stated(at: offset, limit: limit)
        }
    }

    func willRead(_ range: Range<UInt64>) {
        if case .file(let file) = self { file.willRead(range) }
    }
}

/// Reads what another process may be writing, or cutting off, at this moment: into memory of its own, since a mapped read of bytes that
/// are cut off is a fault that ends the process. Bytes that are not there any more are no frame.
///
/// What it gives is valid until it is asked again.
final class TailReader {
    private let file: LogFile
    private var ahead = ReadAhead()

    init(_ file: LogFile) {
        self.file = file
    }

    /// - Returns: nil where the file ends before them.
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

/// What a log has behind its published end, as whoever does not hold the lock may look at it.
struct UnpublishedTail {
    /// Behind the last whole commit: what is before that nobody cuts off.
    let end: UInt64
    /// See `CommitWalk.prepared`.
    let prepared: PreparedCommit?

    /// - Parameters:
    ///   - sequence: of the commit that ends before `position`; as `CommitWalk` takes it.
    ///   - size: the file's, as it was seen.
    /// - Complexity: O(size − position), read and not kept.
    init(
        _ file: LogFile, behind sequence: UInt64, checksum: UInt64, at position: UInt64, slot: HeaderSlot, size: UInt64
    ) throws(StoreError) {
        var walk = CommitWalk(
            log: .tail(TailReader(file)), behind: sequence, checksum: checksum, at: position, limit: size,
            publishedEnd: slot.end, wholeEnd: slot.durableEnd)
        while try walk.next() != nil {}
        end = walk.end
        prepared = walk.prepared
    }
}
