/// Walks the whole commits of a log in order: verifies each frame and the chain of commits, and steps over what is none.
///
/// It ends at the first frame that is not a whole, valid continuation; deciding what that means is for its user.
struct CommitScan {
    private let log: ScannedLog
    /// Up to where the file may be read.
    private let limit: UInt64
    /// Where the header says that the log ends.
    private let publishedEnd: UInt64?
    /// Up to where no crash can have damaged it; a damaged frame before that is an index that went bad later.
    private let wholeEnd: UInt64

    /// Of the commit that `next` found last.
    private(set) var sequence: UInt64
    private(set) var commitChecksum: UInt64
    /// The frames of that commit that may hold rows, its commit frame last; none of a log that does not keep them.
    private(set) var frames: [LogFile.Frame] = []
    /// Behind that commit, or, once `next` has found no more, the published checkpoint after it.
    private(set) var end: UInt64
    /// Behind what has been looked at.
    private(set) var position: UInt64
    private var ahead = Readahead()
    /// The commit that lacks its commit frame alone, where `next` has found no more than that; its rows are in `frames`.
    private(set) var prepared: PreparedCommit?

    /// - Parameters:
    ///   - sequence: of the commit that ends before `position`, 0 for the beginning of a file.
    ///   - checksum: of that commit's frame.
    init(
        log: ScannedLog, behind sequence: UInt64, checksum: UInt64, at position: UInt64, limit: UInt64, publishedEnd: UInt64?,
        wholeEnd: UInt64
    ) {
        self.log = log
        self.sequence = sequence
        commitChecksum = checksum
        end = position
        self.position = position
        self.limit = limit
        self.publishedEnd = publishedEnd
        self.wholeEnd = wholeEnd
    }

    /// A walk from a snapshot's commit to that of a later one of the same file.
    init(from start: Snapshot, to target: Snapshot) {
        self.init(
            log: .file(target.file), behind: start.sequence, checksum: start.commitChecksum, at: start.end, limit: target.end,
            publishedEnd: target.end, wholeEnd: target.end)
    }

    /// The next commit's footer; its frames are in `frames` until the next call.
    mutating func next() throws(StoreError) -> CommitFooter? {
        frames.removeAll(keepingCapacity: true)
        prepared = nil
        var partsChecksum: UInt64 = 0
        // Of the commit that is being read: where it starts. Its values are not kept, they may be longer than memory.
        var start: UInt64?
        // Behind the last commit there is a damaged frame that may as well be the beginning of a torn tail.
        var isDoubtful = false
        // The log does not end before this: within a batch, that is, which a later replay would step over as a whole.
        var batchEnd: UInt64 = 0
        while position < limit {
            if let range = ahead.reach(position) { log.willRead(range) }
            guard let frame = try log.frame(at: position, limit: limit) else {
                guard start == nil, let next = try skipDamagedIndex(at: position) else { return nil }
                position = next
                isDoubtful = isDoubtful || position > wholeEnd
                if !isDoubtful, position <= publishedEnd ?? 0, position >= batchEnd { end = position }
                continue
            }
            position = frame.end
            switch frame.header.kind {
            case .pad: break
            case .rows, .valueChunk, .valueList:
                guard isNext(frame.header.sequence), prepared == nil else { return nil }
                if log.keepsFrames, frame.header.kind == .rows { frames.append(frame) }
                start = start ?? frame.offset
                partsChecksum = CommitFooter.folding(partsChecksum, frame.header.checksum)
            case .prepared:
                guard let found = PreparedCommit(frame), isNext(found.footer.sequence), prepared == nil,
                    frame.header.sequence == found.footer.sequence, found.footer.previousChecksum == commitChecksum,
                    found.footer.partsChecksum == partsChecksum, found.footer.start == start ?? frame.offset
                else { return nil }
                start = start ?? frame.offset
                partsChecksum = found.partsChecksum
                prepared = found
            case .commit:
                guard let footer = CommitFooter(payload: frame.payload), isNext(footer.sequence),
                    frame.header.sequence == footer.sequence, footer.previousChecksum == commitChecksum,
                    footer.partsChecksum == partsChecksum, footer.start == start ?? frame.offset
                else { return nil }
                if log.keepsFrames { frames.append(frame) }
                prepared = nil
                sequence = footer.sequence
                commitChecksum = frame.header.checksum
                end = frame.end
                return footer
            case .batch, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint:
                // Nothing writes them between the frames of a commit.
                guard start == nil else { return nil }
                if frame.header.kind == .batch { (position, batchEnd) = step(over: frame) }
                // Past the published end they are of a checkpoint that was never finished.
                if !isDoubtful, position <= publishedEnd ?? 0, position >= batchEnd { end = position }
            }
        }
        return nil
    }

    /// Steps over a batch of a checkpoint's frames where no crash can have damaged it, else over its own frame alone.
    /// - Returns: where that leads, and where the batch ends.
    private func step(over frame: LogFile.Frame) -> (position: UInt64, end: UInt64) {
        guard let length = BatchFrame.length(in: frame.payload), length % UInt64(FrameHeader.alignment) == 0 else { return (frame.end, frame.end) }
        let (end, isTooLong) = frame.end.addingReportingOverflow(length)
        guard !isTooLong, end <= min(limit, publishedEnd ?? 0, wholeEnd) else { return (frame.end, isTooLong ? .max : end) }
        return (end, end)
    }

    /// Commits are numbered in turn; a compacted file starts with the number that its rows are as of.
    private func isNext(_ number: UInt64) -> Bool {
        number == sequence + 1 || sequence == 0 && number > 0
    }

    /// A damaged frame of an index does not end the log: its rows are elsewhere. What it claims to be is believed only
    /// where a valid frame or the published end follows; a commit that was skipped so would break the chain.
    private func skipDamagedIndex(at position: UInt64) throws(StoreError) -> UInt64? {
        guard let header = try log.stated(at: position, limit: limit) else { return nil }
        switch header.kind {
        case .batch, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint:
            let next = position + UInt64(header.length)
            if next == publishedEnd { return next }
            return try log.frame(at: next, limit: limit) == nil ? nil : next
        case .pad, .rows, .commit, .valueChunk, .valueList, .prepared: return nil
        }
    }
}
