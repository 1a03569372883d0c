/// The table of a log archive: where its frames belong, the checkpoints among them, and the time and end of each commit. Spec:
/// docs/format/log-archive.md, "Table".
struct LogArchiveTable: Equatable, Sendable {
    /// A range of the store's file whose bytes are in the archive.
    struct Extent: Equatable, Sendable {
        var offset: UInt64
        var length: UInt64

        var end: UInt64 { offset + length }
    }

    /// A commit's number, time and end.
    struct Commit: Equatable, Sendable {
        var sequence: UInt64
        var time: Int64
        var end: UInt64
    }

    var extents: [Extent] = []
    /// Manifests of complete checkpoints in the extents, in the order of their offsets.
    var checkpoints: [FramePointer] = []
    /// The commits, in a form of about four bytes each.
    private(set) var commits: [UInt8] = []
    private var lastTime: Int64 = 0
    private var lastEnd: UInt64 = 0

    /// - Parameter start: the header's.
    init(start: UInt64) { lastEnd = start }

    /// Adds the next commit. Its range joins the last extent where it follows that directly.
    mutating func append(_ range: Range<UInt64>, time: Int64) {
        appendCommit(end: range.upperBound, time: time)
        append(Extent(offset: range.lowerBound, length: range.upperBound - range.lowerBound))
    }

    /// Adds an extent, or joins it with the last one where it follows that directly.
    mutating func append(_ extent: Extent) {
        if let last = extents.last, last.end == extent.offset {
            extents[extents.count - 1].length += extent.length
        } else {
            extents.append(extent)
        }
    }

    /// Adds the next commit without its extent.
    mutating func appendCommit(end: UInt64, time: Int64) {
        let change = time &- lastTime
        commits.append(varint: UInt64(bitPattern: change &<< 1 ^ change &>> 63))
        commits.append(varint: (end - lastEnd) / UInt64(FrameHeader.alignment))
        lastTime = time
        lastEnd = end
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt32(extents.count))
        for extent in extents {
            writer.append(extent.offset)
            writer.append(extent.length)
        }
        writer.append(UInt32(checkpoints.count))
        for checkpoint in checkpoints { writer.append(checkpoint) }
        return writer.bytes + commits
    }

    /// - Throws: `damaged` if the bytes are not the table of an archive with this header.
    init(_ bytes: [UInt8], _ header: LogArchiveHeader) throws(LogArchiveFault) {
        let rest: Int? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let extentCount = reader.count(of: 16) else { return nil }
            for _ in 0..<extentCount {
                guard let offset = reader.integer(UInt64.self), let length = reader.integer(UInt64.self) else { return nil }
                extents.append(Extent(offset: offset, length: length))
            }
            guard let checkpointCount = reader.count(of: 16) else { return nil }
            for _ in 0..<checkpointCount {
                guard let pointer = reader.pointer() else { return nil }
                checkpoints.append(pointer)
            }
            return reader.offset
        }
        guard let rest, hasPossibleExtents(header), hasPossibleCheckpoints(header) else { throw .damaged("its table is damaged") }
        commits = Array(bytes[rest...])
        guard hasPossibleCommits(header) else { throw .damaged("its table of commits is damaged") }
    }

    private func hasPossibleExtents(_ header: LogArchiveHeader) -> Bool {
        let alignment = UInt64(FrameHeader.alignment)
        var end = header.start, sum: UInt64 = 0
        for extent in extents {
            guard extent.offset >= end, extent.length > 0, extent.length <= header.sizeMax, extent.offset <= header.sizeMax - extent.length,
                extent.offset % alignment == 0, extent.length % alignment == 0
            else { return false }
            end = extent.end
            sum += extent.length
        }
        guard sum == header.frameBytes else { return false }
        return header.isBase ? extents.count == 1 && extents[0].offset == header.start && end >= header.end : end == header.end
    }

    private func hasPossibleCheckpoints(_ header: LogArchiveHeader) -> Bool {
        guard header.isBase || checkpoints.isEmpty else { return false }
        var least = header.start
        for checkpoint in checkpoints {
            guard checkpoint.offset >= least, checkpoint.offset < extents[0].end else { return false }
            least = checkpoint.offset + 1
        }
        return true
    }

    private func hasPossibleCommits(_ header: LogArchiveHeader) -> Bool {
        var cursor = commits(of: header), end = header.start, count: UInt64 = 0, least = Int64.max, greatest = Int64.min
        while let commit = cursor.next() {
            guard commit.end > end, commit.end <= header.end else { return false }
            end = commit.end
            count += 1
            least = min(least, commit.time)
            greatest = max(greatest, commit.time)
        }
        return cursor.isAtEnd && end == header.end && count == header.last - header.first + 1 && least == header.leastTime
            && greatest == header.greatestTime
    }

    /// The commits, one after the other.
    func commits(of header: LogArchiveHeader) -> CommitCursor { CommitCursor(commits, sequence: header.first, end: header.start) }

    struct CommitCursor {
        private let bytes: [UInt8]
        private var at = 0
        private var sequence: UInt64
        private var time: Int64 = 0
        private var end: UInt64

        fileprivate init(_ bytes: [UInt8], sequence: UInt64, end: UInt64) {
            self.bytes = bytes
            self.sequence = sequence
            self.end = end
        }

        var isAtEnd: Bool { at == bytes.count }

        /// - Returns: nil at the end, and at bytes that are no commit.
        mutating func next() -> Commit? {
            guard let change = varint(), let distance = varint() else { return nil }
            let (length, isTooLong) = distance.multipliedReportingOverflow(by: UInt64(FrameHeader.alignment))
            let (end, isTooFar) = self.end.addingReportingOverflow(length)
            guard !isTooLong, !isTooFar else { return nil }
            time = time &+ (Int64(bitPattern: change &>> 1) ^ -Int64(bitPattern: change & 1))
            self.end = end
            defer { sequence &+= 1 }
            return Commit(sequence: sequence, time: time, end: end)
        }

        private mutating func varint() -> UInt64? {
            var value: UInt64 = 0, shift: UInt64 = 0
            while at < bytes.count, shift < 64 {
                let byte = bytes[at]
                at += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
    }
}

extension [UInt8] {
    /// Appends 7 bits a byte, low first.
    fileprivate mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}
