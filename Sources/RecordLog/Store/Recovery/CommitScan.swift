/// Scans the whole commits of a log in order: verifies each frame and the chain of commits, and steps over other frames.
///
/// It ends at the first frame that is not a whole, valid continuation. Its user decides what that means.
struct CommitScan {
    private let log: ScannedLog
    /// The file may be read up to here.
    private let limit: UInt64
    /// The log's end as the header has it.
    private let publishedEnd: UInt64?
    /// No crash can have damaged the log up to here. A damaged frame before it belongs to an index and went bad later.
    private let wholeEnd: UInt64

    /// The number of the commit that `next` found last.
    private(set) var sequence: UInt64
    private(set) var commitChecksum: UInt64
    /// The frames of that commit that may hold rows, its commit frame last; empty if the log does not keep frames.
    private(set) var frames: [LogFile.Frame] = []
    /// The commit frame that `next` found last; its bytes are valid until the next call.
    private(set) var commitFrame: LogFile.Frame?
    /// The end of that commit or, once `next` has found no more, of the published checkpoint after it.
    private(set) var end: UInt64
    /// The end of the bytes examined so far.
    private(set) var position: UInt64
    private let damagePolicy: DamagePolicy
    /// The ranges of damaged index frames that were stepped over. None crosses the end of a batch, to which a replay steps.
    private(set) var damage: [Range<UInt64>] = []
    private var ahead = Readahead()
    /// The commit that lacks only its commit frame, if `next` has found one; its rows are in `frames`.
    private(set) var prepared: PreparedCommit?

    /// The treatment of index frames, which the rows do without.
    enum DamagePolicy {
        /// Steps over whole batches unread, and over a damaged index frame.
        case passes
        /// Reads every frame. Steps over damaged ones, also over several, as far as a batch or the next frame shows where they end.
        case finds
        /// Reads every frame. A damaged one ends the scan.
        case ends
    }

    /// - Parameters:
    ///   - sequence: the number of the commit that ends before `position`; 0 for the beginning of a file.
    ///   - checksum: the checksum of that commit's frame.
    init(
        log: ScannedLog, behind sequence: UInt64, checksum: UInt64, at position: UInt64, limit: UInt64, publishedEnd: UInt64?,
        wholeEnd: UInt64, damage: DamagePolicy = .passes
    ) {
        damagePolicy = damage
        self.log = log
        self.sequence = sequence
        commitChecksum = checksum
        end = position
        self.position = position
        self.limit = limit
        self.publishedEnd = publishedEnd
        self.wholeEnd = wholeEnd
    }

    /// Scans from a snapshot's commit to the commit of a later snapshot of the same file.
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
        // The start of the commit that is being read. Its values are not kept, since they may be longer than memory.
        var start: UInt64?
        // True behind a damaged frame after the last commit that may as well be the beginning of a torn tail.
        var isDoubtful = false
        // The end of the batch that is being scanned. The log's end is never within it, since a later replay would step over it as a whole.
        var batchEnd: UInt64 = 0
        while position < limit {
            if let range = ahead.reach(position) { log.willRead(range) }
            guard let frame = try log.frame(at: position, limit: limit) else {
                guard start == nil, let next = try skipDamagedIndex(at: position, batchEnd: batchEnd) else { return nil }
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
                commitFrame = frame
                end = frame.end
                return footer
            case .batch, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint:
                // No writer puts them between the frames of a commit.
                guard start == nil else { return nil }
                if frame.header.kind == .batch { (position, batchEnd) = step(over: frame) }
                // Past the published end they belong to a checkpoint that was never finished.
                if !isDoubtful, position <= publishedEnd ?? 0, position >= batchEnd { end = position }
            }
        }
        return nil
    }

    /// Steps over a whole batch of a checkpoint's frames if no crash can have damaged it, else only over the batch frame.
    /// - Returns: the next position, and the batch's end.
    private func step(over frame: LogFile.Frame) -> (position: UInt64, end: UInt64) {
        guard let length = BatchFrame.length(in: frame.payload), length % UInt64(FrameHeader.alignment) == 0 else { return (frame.end, frame.end) }
        let (end, isTooLong) = frame.end.addingReportingOverflow(length)
        guard !isTooLong, damagePolicy == .passes, end <= min(limit, publishedEnd ?? 0, wholeEnd) else {
            return (frame.end, isTooLong ? .max : end)
        }
        return (end, end)
    }

    /// Commits are numbered consecutively. A compacted file starts with the number of the commit that its rows are copied from.
    private func isNext(_ number: UInt64) -> Bool {
        number == sequence + 1 || sequence == 0 && number > 0
    }

    /// Steps over a damaged index frame. It does not end the log, because the rows are in other frames. Its stated kind and length are
    /// believed only if a valid frame or the published end follows. A commit skipped by mistake would break the chain.
    private mutating func skipDamagedIndex(at position: UInt64, batchEnd: UInt64) throws(StoreError) -> UInt64? {
        guard damagePolicy != .ends else { return nil }
        if let next = try statedEnd(at: position), damagePolicy == .passes || position >= batchEnd || next <= batchEnd { return noting(position..<next) }
        guard damagePolicy == .finds else { return nil }
        if position < batchEnd, batchEnd <= limit { return noting(position..<batchEnd) }
        return try nextFrame(behind: position).map { noting(position..<$0) }
    }

    /// The end that a damaged index frame states, if that can be believed.
    private func statedEnd(at position: UInt64) throws(StoreError) -> UInt64? {
        guard let header = try log.stated(at: position, limit: limit) else { return nil }
        switch header.kind {
        case .batch, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint:
            let next = position + UInt64(header.length)
            if next == publishedEnd { return next }
            return try log.frame(at: next, limit: limit) == nil ? nil : next
        case .pad, .rows, .commit, .valueChunk, .valueList, .prepared: return nil
        }
    }

    /// The next frame of the segment, or the segment's end. Only in damaged files is it looked for.
    private func nextFrame(behind position: UInt64) throws(StoreError) -> UInt64? {
        let step = UInt64(FrameHeader.alignment)
        let end = min(limit, position + log.room(at: position))
        var next = position + step
        while next < end {
            if try log.frame(at: next, limit: limit) != nil { return next }
            next += step
        }
        return end == limit && end != publishedEnd ? nil : end
    }

    private mutating func noting(_ range: Range<UInt64>) -> UInt64 {
        if damagePolicy == .finds { damage.append(range) }
        return range.upperBound
    }
}
