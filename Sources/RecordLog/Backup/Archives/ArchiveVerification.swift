/// Reads a whole log archive: each block, each frame, and the chain of its commits.
struct ArchiveVerification {
    private let archive: LogArchiveReader
    /// Bytes of a frame that is not whole yet; they belong at `offset` of the store's file, which is in extent number `extent`.
    private var bytes: [UInt8] = []
    private var extent = 0
    private var offset: UInt64
    private var position: LogPosition
    private var lastFrame: UInt64 = 0
    private var parts: UInt64 = 0
    /// The offset of the first frame of the commit that is being read.
    private var start: UInt64?
    private var commits: LogArchiveTable.CommitCursor
    private let wanted: Set<UInt64>
    private var checksums: [UInt64: UInt64] = [:]

    /// - Parameter wanted: the numbers of commits whose checksums `run` returns.
    init(_ archive: LogArchiveReader, noting wanted: Set<UInt64> = []) {
        self.archive = archive
        self.wanted = wanted
        let header = archive.header
        position = LogPosition(sequence: header.first - 1, checksum: header.previousChecksum, end: header.start)
        commits = archive.table.commits(of: header)
        offset = archive.table.extents.first?.offset ?? 0
    }

    /// - Throws: `damaged`.
    @discardableResult
    func run() async throws -> [UInt64: UInt64] {
        var state = self
        try await archive.readAll { try state.take($0) }
        try state.finish()
        return state.checksums
    }

    private mutating func take(_ more: ArraySlice<UInt8>) throws {
        bytes += more
        var used = 0
        while extent < archive.table.extents.count {
            let end = archive.table.extents[extent].end
            guard let length = try frame(bytes[used...], at: offset, extentEnd: end) else { break }
            used += length
            offset += UInt64(length)
            guard offset == end else { continue }
            extent += 1
            if extent < archive.table.extents.count { offset = archive.table.extents[extent].offset }
        }
        bytes.removeFirst(used)
    }

    private func finish() throws {
        let header = archive.header
        guard extent == archive.table.extents.count, bytes.isEmpty else { throw damaged(offset, "a frame is cut") }
        guard position.sequence == header.last, position.checksum == header.lastChecksum, lastFrame == header.lastFrame else {
            throw archive.damaged(at: nil, "its last commit is not the one that its header names")
        }
    }

    /// Looks at one frame.
    /// - Returns: its length; nil if it needs more bytes than there are.
    private mutating func frame(_ bytes: ArraySlice<UInt8>, at offset: UInt64, extentEnd: UInt64) throws(BackupError) -> Int? {
        guard bytes.count >= FrameHeader.lengthMin else { return nil }
        let segment = UInt64(1) << UInt64(archive.header.segmentShift)
        let limit = min(extentEnd - offset, segment - offset % segment)
        let outcome: Result<Int?, BackupError> = bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let header = FrameHeader(base, limit: limit) else { return .failure(damaged(offset, "no frame")) }
            guard Int(header.length) <= bytes.count else { return .success(nil) }
            let checksum = FrameHeader.checksum(of: base, length: header.length, fileID: archive.header.fileID, offset: offset)
            guard checksum == header.checksum else { return .failure(damaged(offset, "a frame is damaged")) }
            let frame = LogFile.Frame(offset: offset, pointer: base, header: header)
            do throws(BackupError) {
                try take(frame)
                return .success(Int(header.length))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private mutating func take(_ frame: LogFile.Frame) throws(BackupError) {
        switch frame.header.kind {
        case .pad: break
        case .rows, .valueChunk, .valueList, .prepared:
            start = start ?? frame.offset
            parts = CommitFooter.folding(parts, frame.header.checksum)
        case .commit:
            guard let footer = CommitFooter(payload: frame.payload), let listed = commits.next(), footer.sequence == position.sequence + 1,
                frame.header.sequence == footer.sequence, footer.previousChecksum == position.checksum, footer.partsChecksum == parts,
                footer.start == start ?? frame.offset, listed.sequence == footer.sequence, listed.time == footer.timestamp,
                listed.end == frame.end
            else { throw damaged(frame.offset, "commit \(position.sequence + 1) does not follow the one before") }
            position = LogPosition(sequence: footer.sequence, checksum: frame.header.checksum, end: frame.end)
            lastFrame = frame.offset
            if wanted.contains(footer.sequence) { checksums[footer.sequence] = frame.header.checksum }
            (parts, start) = (0, nil)
        case .batch, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint:
            guard start == nil, archive.header.isBase else { throw damaged(frame.offset, "a frame that belongs to no commit is in one") }
        }
    }

    private func damaged(_ offset: UInt64, _ message: String) -> BackupError {
        archive.damaged(at: nil, "\(message), which belongs to byte \(offset) of the store's file")
    }
}
