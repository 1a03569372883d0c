/// Writes the frames of log archives to a file at the offsets that they had in the store's file, and verifies the commits.
///
/// Frames that no archive has (of checkpoints, and pads) leave holes. Pads fill these, so that the log has frames without a gap.
///
/// Invariants:
/// 1. Up to `position` all frames and the chain of commits are verified.
/// 2. From `position.end` to `writtenEnd` the file has bytes of archives whose blocks were verified; behind that it has none.
final class RestoredLog {
    let file: LogFile
    private(set) var position: LogPosition
    private(set) var writtenEnd: UInt64
    /// The complete checkpoints among the frames.
    private(set) var checkpoints: [FramePointer] = []

    private var storage: any StorageFile { file.storage }

    /// Holes are filled with pads of at most this length, so that most of a large hole stays sparse and none takes much memory.
    private static let padMax: UInt64 = 1 << 20
    private static let noBytes = [UInt8](repeating: 0, count: Int(padMax))

    /// - Parameter position: a commit that the file has, verified.
    init(_ storage: any StorageFile, _ identity: FileIdentity, path: String, at position: LogPosition) throws(StoreError) {
        file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: Counters())
        self.position = position
        writtenEnd = position.end
        try storage.truncate(to: position.end)
    }

    /// The position in a file that an interrupted restore has left, up to a commit.
    ///
    /// It is that of the last but one commit: the next archive's first commit then shows by the chain that the file belongs to the same line.
    static func resumed(
        _ storage: any StorageFile, _ identity: FileIdentity, path: String, upTo sequence: UInt64
    ) throws(StoreError) -> LogPosition {
        let file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: Counters())
        var scan = CommitScan(file, after: .start, limit: try storage.size(), publishedEnd: nil, wholeEnd: 0)
        var before = LogPosition.start, last = LogPosition.start
        while let footer = try scan.next(), footer.sequence <= sequence {
            before = last
            last = scan.lastCommit
        }
        return before
    }

    // MARK: Writing

    /// Takes the commits of an archive up to a number. Of a base archive, where that is its last commit, the checkpoint behind it too.
    /// - Throws: `BackupError` if the archive is damaged or does not follow the commits so far; `position` is unchanged then. After any other
    ///   error the file keeps the bytes, with which the next restore goes on, and this object is of no use any more.
    func take(_ archive: LogArchiveReader, upTo reach: UInt64, progress: (UInt64) async throws -> Void) async throws {
        guard let commitEnd = archive.end(of: reach) else { throw archive.damaged(at: nil, "it has no commit \(reach)") }
        let header = archive.header, isWhole = reach == header.last
        let end = isWhole ? archive.table.extents.last?.end ?? commitEnd : commitEnd
        do {
            try await copy(archive, upTo: end, progress)
        } catch let error as BackupError where error.isOfArchive {
            try cut()
            throw error
        }
        try verify(archive, through: reach)
        if header.isBase { checkpoints = archive.table.checkpoints.filter { $0.offset < end } }
        if isWhole, position.checksum != header.lastChecksum {
            throw archive.damaged(at: nil, "its last commit is not the one that its header names")
        }
    }

    /// Notes the checkpoints of a base archive whose frames the file has already.
    func noteCheckpoints(_ archive: LogArchiveReader) {
        checkpoints = archive.table.checkpoints.filter { $0.offset < position.end }
    }

    private func copy(_ archive: LogArchiveReader, upTo end: UInt64, _ progress: (UInt64) async throws -> Void) async throws {
        let blockMax = UInt64(LogArchiveFormat.blockMax)
        let blocks = Self.blocks(archive, from: position.end, upTo: end)
        let ahead = WorkAhead(blocks.makeIterator(), depth: archive.isInMemory ? 1 : 8) { try await archive.frames($0) }
        // The offset in the archive's frames at which the extent begins.
        var start: UInt64 = 0
        var block: (number: UInt64, bytes: ArraySlice<UInt8>)?
        for extent in archive.table.extents {
            var at = max(extent.offset, position.end)
            let limit = min(extent.end, end)
            while at < limit {
                let inFrames = start + (at - extent.offset), number = inFrames / blockMax
                if block?.number != number {
                    try Task.checkCancellation()
                    block = try await ahead.next().map { (number, $0) }
                }
                guard let bytes = block?.bytes else { break }
                let first = bytes.startIndex + Int(inFrames - number * blockMax)
                let count = min(UInt64(bytes.endIndex - first), limit - at)
                try write(bytes[first..<first + Int(count)], at: at)
                at += count
                try await progress(count)
            }
            start += extent.length
        }
    }

    /// The blocks of an archive that have the frames between two offsets of the file.
    private static func blocks(_ archive: LogArchiveReader, from begin: UInt64, upTo end: UInt64) -> Range<UInt64> {
        func bytes(before offset: UInt64) -> UInt64 {
            archive.table.extents.reduce(0) { $0 + max(min($1.end, offset), $1.offset) - $1.offset }
        }
        let first = bytes(before: begin), last = bytes(before: end)
        return first < last ? first / UInt64(LogArchiveFormat.blockMax)..<LogArchiveFormat.blockCount(last) : 0..<0
    }

    private func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(StoreError) {
        // A base archive may end with a checkpoint behind its last commit, where another line went on without it.
        if offset < writtenEnd { try cut() }
        try fillHole(upTo: offset)
        try FileCreation.write(bytes, to: storage, at: offset)
        writtenEnd = offset + UInt64(bytes.count)
    }

    /// Cuts off the bytes behind the verified commits.
    private func cut() throws(StoreError) {
        try storage.truncate(to: position.end)
        writtenEnd = position.end
        checkpoints.removeAll { $0.offset >= position.end }
    }

    /// Writes the heads of pads from the end of the file on; the pads' zeroes are not written.
    private func fillHole(upTo end: UInt64) throws(StoreError) {
        while writtenEnd < end {
            let length = min(end - writtenEnd, file.room(at: writtenEnd), Self.padMax)
            try FileCreation.write(Self.pad(Int(length), at: writtenEnd, fileID: file.identity.fileID)[...], to: storage, at: writtenEnd)
            writtenEnd += length
        }
    }

    /// The first 64 bytes of a pad.
    private static func pad(_ length: Int, at offset: UInt64, fileID: UInt64) -> [UInt8] {
        var frame = length == noBytes.count ? noBytes : Array(noBytes[..<length])
        frame.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            FrameHeader.seal(
                base, kind: .pad, payloadLength: length - FrameHeader.Layout.size, sequence: 0, fileID: fileID, offset: offset)
        }
        return Array(frame[..<FrameHeader.alignment])
    }

    // MARK: Verifying

    /// Follows the chain of commits through the bytes that were written.
    private func verify(_ archive: LogArchiveReader, through reach: UInt64) throws {
        var scan = CommitScan(file, after: position, limit: writtenEnd, publishedEnd: nil, wholeEnd: 0)
        var found = position
        while found.sequence < reach {
            guard let footer = try scan.next(), footer.sequence <= reach else {
                try cut()
                throw archive.damaged(at: nil, "commit \(found.sequence + 1) in it is damaged, or does not follow commit \(found.sequence)")
            }
            found = scan.lastCommit
        }
        position = found
    }

    /// Cuts the file behind its last commit, or behind the checkpoint that follows it.
    /// - Returns: the superblock of the file, which is not written yet.
    func superblock() throws(StoreError) -> Superblock {
        try storage.truncate(to: writtenEnd)
        var superblock = Superblock()
        superblock.generation = 1
        superblock.sequence = position.sequence
        superblock.end = writtenEnd
        // Nothing acknowledges the file before a sync.
        superblock.durableSequence = superblock.sequence
        superblock.durableEnd = superblock.end
        superblock.checkpoint = checkpoints.last ?? .none
        superblock.commitChecksum = position.checksum
        superblock.isUnsettled = true
        return superblock
    }
}
