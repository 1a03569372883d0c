/// Writes the frames of log archives to a file at the offsets that they had in the store's file, and verifies the commits.
///
/// Frames that no archive has (of checkpoints, and pads) leave holes. Pads fill these, so that the log has frames without a gap.
///
/// Invariants:
/// 1. Up to `position` all frames and the chain of commits are verified; where frames of indexes were damaged, pads are.
/// 2. From `position.end` to `writtenEnd` the file has bytes of archives whose blocks were verified; behind that it has none.
final class RestoredLog {
    let file: LogFile
    private(set) var position: LogPosition
    private(set) var writtenEnd: UInt64
    /// The checkpoints of the base archive among the frames.
    private(set) var checkpoints: [FramePointer] = []
    /// The ranges of the archives in which frames of indexes are damaged.
    private(set) var damage: [Range<UInt64>] = []
    /// Whether frames of `checkpoints` may be missing: those before `position` may be of other archives than the base that is taken.
    private var mayLackIndexes = false

    private var storage: any StorageFile { file.storage }

    /// - Parameter position: a commit that the file has, verified.
    init(_ storage: any StorageFile, _ identity: FileIdentity, path: String, at position: LogPosition) throws(StoreError) {
        file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: Counters())
        self.position = position
        writtenEnd = position.end
        try storage.truncate(to: position.end)
    }

    /// The position in a file that an interrupted restore has left, up to a commit.
    ///
    /// Every frame before it is whole: a loss of power may have damaged any of them, since nothing was synced. It is that of the last but one
    /// commit: the next archive's first commit then shows by the chain that the file belongs to the same line.
    static func resumed(
        _ storage: any StorageFile, _ identity: FileIdentity, path: String, upTo sequence: UInt64
    ) throws(StoreError) -> LogPosition {
        let file = LogFile(storage: storage, path: path, identity: identity, maps: false, counters: Counters())
        var scan = CommitScan(file, after: .start, limit: try storage.size(), publishedEnd: nil, wholeEnd: 0, damage: .ends)
        var before = LogPosition.start, last = LogPosition.start
        while let footer = try scan.next(), footer.sequence <= sequence {
            before = last
            last = scan.lastCommit
        }
        return before
    }

    // MARK: Writing

    /// Takes the commits of an archive up to a number. Of a base archive, where that is its last commit, the checkpoint behind it too.
    /// - Throws: `BackupError` if the archive is damaged or does not follow the commits so far; `position` is then behind the last commit that
    ///   could be taken. After any other error the file keeps the bytes, with which the next restore goes on, and this object is of no use any
    ///   more.
    func take(_ archive: LogArchiveReader, upTo reach: UInt64, progress: (UInt64) async throws -> Void) async throws {
        guard let commitEnd = archive.end(of: reach) else { throw archive.damaged(at: nil, "it has no commit \(reach)") }
        let header = archive.header, isWhole = reach == header.last
        let end = isWhole ? archive.table.extents.last?.end ?? commitEnd : commitEnd
        let before = position
        do {
            try await copy(archive, upTo: end, progress)
        } catch let error as BackupError where error.isOfArchive {
            // The bytes before the damage are whole. Where only a checkpoint behind the last commit is damaged, no other bytes are needed.
            if header.isBase { noteCheckpoints(archive, upTo: writtenEnd, behind: before) }
            try verify(archive, through: reach, upTo: writtenEnd)
            try cut()
            guard position.sequence == reach else { throw error }
            return
        }
        if header.isBase { noteCheckpoints(archive, upTo: end, behind: before) }
        try verify(archive, through: reach, upTo: writtenEnd)
        guard position.sequence == reach else {
            try cut()
            throw archive.damaged(at: nil, "commit \(position.sequence + 1) in it is damaged, or does not follow commit \(position.sequence)")
        }
        if isWhole, position.checksum != header.lastChecksum {
            throw archive.damaged(at: nil, "its last commit is not the one that its header names")
        }
    }

    /// Notes the checkpoints of a base archive whose frames the file has already.
    func noteCheckpoints(_ archive: LogArchiveReader) { noteCheckpoints(archive, upTo: position.end, behind: position) }

    /// - Parameter before: the position when the archive was taken. What lies before it may come from other archives.
    private func noteCheckpoints(_ archive: LogArchiveReader, upTo end: UInt64, behind before: LogPosition) {
        checkpoints = archive.table.checkpoints.filter { $0.offset < end }
        mayLackIndexes = mayLackIndexes || before.sequence > 0
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
    private func cut() throws(StoreError) { try cut(to: position.end) }

    private func cut(to end: UInt64) throws(StoreError) {
        try storage.truncate(to: end)
        writtenEnd = end
        checkpoints.removeAll { $0.offset >= end }
        damage.removeAll { $0.lowerBound >= end }
    }

    /// Writes the heads of pads from the end of the file on; the pads' zeroes are not written.
    private func fillHole(upTo end: UInt64) throws(StoreError) {
        guard writtenEnd < end else { return }
        for pad in PadFrames.ranges(in: writtenEnd..<end, segmentSize: file.segmentSize) {
            try FileCreation.write(PadFrames.head(of: pad, fileID: file.identity.fileID)[...], to: storage, at: pad.lowerBound)
        }
        writtenEnd = end
    }

    /// Writes pads over damaged frames.
    private func replace(_ ranges: [Range<UInt64>]) throws(StoreError) {
        for pad in ranges.flatMap({ PadFrames.ranges(in: $0, segmentSize: file.segmentSize) }) {
            try FileCreation.write(PadFrames.frame(pad, fileID: file.identity.fileID)[...], to: storage, at: pad.lowerBound)
        }
        damage += ranges
        mayLackIndexes = mayLackIndexes || !ranges.isEmpty
    }

    // MARK: Verifying

    /// Follows the chain of commits through the bytes that were written, as far as it goes.
    private func verify(_ archive: LogArchiveReader, through reach: UInt64, upTo end: UInt64) throws(StoreError) {
        var scan = CommitScan(file, after: position, limit: end, publishedEnd: end, wholeEnd: end, damage: .finds)
        while position.sequence < reach, let footer = try scan.next(), footer.sequence <= reach { position = scan.lastCommit }
        // Behind the last commit a base has a checkpoint, or its beginning.
        if position.sequence == reach, try scan.next() == nil, scan.position < end {
            try cut(to: scan.position)
        }
        try replace(scan.damage.filter { $0.upperBound <= writtenEnd })
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
        superblock.checkpoint = try newestCheckpoint()
        superblock.commitChecksum = position.checksum
        superblock.isUnsettled = true
        return superblock
    }

    /// The newest checkpoint that the file has.
    private func newestCheckpoint() throws(StoreError) -> FramePointer {
        guard mayLackIndexes else { return checkpoints.last ?? .none }
        let file = LogFile(storage: storage, path: file.path, identity: file.identity, maps: false, counters: Counters())
        file.extendReadable(to: writtenEnd)
        var check = CheckpointCheck(file)
        for checkpoint in checkpoints.reversed() where try check.isWhole(checkpoint, size: writtenEnd) { return checkpoint }
        return .none
    }
}
