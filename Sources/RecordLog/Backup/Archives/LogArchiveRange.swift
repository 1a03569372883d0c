/// Commits of a file that one log archive is to have: its header and its table.
struct LogArchiveRange: Sendable {
    var header: LogArchiveHeader
    var table: LogArchiveTable
    /// The ranges of the file in which frames of indexes are damaged. The archive has pads there.
    var damage: [Range<UInt64>] = []

    /// The position behind the last commit.
    var position: LogPosition { LogPosition(sequence: header.last, checksum: header.lastChecksum, end: header.end) }
}

/// Finds the ranges of commits that follow a position.
struct LogRangeFinder {
    let source: BackupSource
    let published: Superblock
    /// The lineage of the next commit, as far as the store's newest lineage row does not show another.
    private(set) var lineage: Lineage
    /// Rows of lineages up to this commit are known.
    private let lineageSequence: UInt64
    private(set) var position: LogPosition
    private var scan: CommitScan
    /// A commit that was read and belongs to the next range.
    private var waiting: Found?

    private struct Found {
        var footer: CommitFooter
        var frame: UInt64
        var position: LogPosition
        var lineage: Lineage?
    }

    /// - Parameter lineage: the store's lineage, and the commit as of which it holds.
    init(_ source: BackupSource, after position: LogPosition, published: Superblock, lineage: (lineage: Lineage, sequence: UInt64)) {
        self.source = source
        self.position = position
        self.published = published
        self.lineage = lineage.lineage
        lineageSequence = lineage.sequence
        // A base has the frames of indexes too.
        scan = source.scan(from: position, published, damage: position.sequence == 0 ? .finds : .passes)
    }

    /// The whole file, which becomes a base; nil if it has no commit.
    mutating func base() throws(StoreError) -> LogArchiveRange? {
        guard var range = try next(bytesMax: .max, isBase: true) else { return nil }
        let end = max(published.end, range.header.end)
        range.table.extents = [.init(offset: FileFormat.dataStart, length: end - FileFormat.dataStart)]
        range.damage = scan.damage.filter { $0.upperBound <= end }
        if scan.position < published.end, range.header.last == published.sequence { range.damage.append(scan.position..<published.end) }
        // A later checkpoint may use the frames that are damaged.
        let wholeEnd = range.damage.first?.lowerBound ?? end
        range.table.checkpoints = try source.checkpoints(published).filter { $0.offset < wholeEnd }
        range.header.frameBytes = end - FileFormat.dataStart
        return range
    }

    /// The next commits, about `bytesMax` bytes of them; nil if there are no more. A range has one lineage.
    mutating func next(bytesMax: UInt64) throws(StoreError) -> LogArchiveRange? { try next(bytesMax: bytesMax, isBase: false) }

    private mutating func next(bytesMax: UInt64, isBase: Bool) throws(StoreError) -> LogArchiveRange? {
        let start = position
        var table = LogArchiveTable(start: start.end)
        var header: LogArchiveHeader?
        var bytes: UInt64 = 0
        while bytes < bytesMax, let found = try commit() {
            if let new = found.lineage, new != lineage {
                guard header == nil || isBase else {
                    waiting = found
                    break
                }
                lineage = new
            }
            let footer = found.footer, time = footer.timestamp
            var known = header ?? LogArchiveHeader(
                segmentShift: source.identity.segmentShift, isBase: isBase, storeID: source.identity.storeID, lineage: lineage,
                fileID: source.identity.fileID, storeVersion: source.identity.version, first: footer.sequence, last: footer.sequence,
                leastTime: time, greatestTime: time, previousChecksum: footer.previousChecksum, lastChecksum: 0, lastFrame: 0, start: start.end,
                end: 0, frameBytes: 0)
            if isBase {
                table.appendCommit(end: found.position.end, time: time)
            } else {
                table.append(footer.start..<found.position.end, time: time)
            }
            bytes += found.position.end - footer.start
            known.lineage = lineage
            known.last = footer.sequence
            known.leastTime = min(known.leastTime, time)
            known.greatestTime = max(known.greatestTime, time)
            known.lastChecksum = found.position.checksum
            known.lastFrame = found.frame
            known.end = found.position.end
            known.frameBytes = bytes
            header = known
            position = found.position
        }
        return header.map { LogArchiveRange(header: $0, table: table) }
    }

    private mutating func commit() throws(StoreError) -> Found? {
        if let waiting {
            self.waiting = nil
            return waiting
        }
        guard let footer = try scan.next(), let frame = scan.commitFrame else {
            guard scan.sequence >= published.sequence else {
                // The caller gets the commits before the damage first.
                guard position.sequence == scan.sequence else { return nil }
                throw StoreError.corrupt(source.path, at: scan.position, "the log ends before its newest commit, number \(published.sequence)")
            }
            return nil
        }
        return Found(
            footer: footer, frame: frame.offset, position: scan.lastCommit,
            lineage: footer.sequence > lineageSequence ? Lineage(begunBy: frame) : nil)
    }
}
