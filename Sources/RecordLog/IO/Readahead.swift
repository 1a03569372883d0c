/// Says what of a mapped file a walk is about to read.
///
/// A walk tells where it is, and gets back what to ask the file for (`StorageFile.willRead`), so that the disk is at work while the walk is.
///
/// Invariants:
/// 1. Nothing is asked for until the walk has gone on twice: many a walk ends within two blocks of an index.
/// 2. What is asked for begins where the last of it ended, in the direction of the walk, and is twice as long, up to `most`.
/// 3. A step of more than `nearby` begins anew.
struct Readahead {
    /// While the walk is in here there is nothing to be done.
    private var calm: Range<UInt64> = .max ..< .max
    /// What was asked for last.
    private var asked: Range<UInt64> = 0..<0
    private var length: UInt64 = 0
    /// How often it has gone on; less than 0 backward.
    private var steps = 0

    static let least: UInt64 = 64 << 10
    static let most: UInt64 = 4 << 20
    static let nearby: UInt64 = 64 << 10

    /// - Parameter offset: where the walk reads next.
    /// - Returns: what to ask the file for; mostly nil. It may reach past the file's end.
    @inline(__always)
    mutating func reach(_ offset: UInt64) -> Range<UInt64>? {
        calm.contains(offset) ? nil : move(to: offset)
    }

    /// Whether the walk goes on there.
    @inline(__always)
    fileprivate func isNear(_ offset: UInt64) -> Bool {
        if offset >= calm.upperBound { return offset - calm.upperBound <= Self.nearby }
        return offset >= calm.lowerBound || calm.lowerBound - offset <= Self.nearby
    }

    @inline(never)
    private mutating func move(to offset: UInt64) -> Range<UInt64>? {
        // Offsets may come from a damaged index.
        guard offset < .max / 2 else { return nil }
        let isForward = offset >= calm.upperBound
        if isNear(offset) {
            steps = isForward ? max(steps, 0) + 1 : min(steps, 0) - 1
        } else {
            steps = 0
        }
        guard abs(steps) > 1 else {
            (calm, asked, length) = (offset..<offset + 1, offset..<offset, 0)
            return nil
        }
        length = length == 0 ? Self.least : min(length * 2, Self.most)
        if isForward {
            let start = max(offset, asked.upperBound)
            asked = start..<start + length
            calm = offset..<asked.upperBound - length / 2
        } else {
            let end = min(offset, asked.lowerBound)
            asked = (end > length ? end - length : 0)..<end
            calm = (asked.lowerBound == 0 ? 0 : min(asked.lowerBound + length / 2, offset))..<offset + 1
        }
        return asked.isEmpty ? nil : asked
    }
}

/// The same for a walk that reads at two places in turn, as rows are read of which some were changed: where they were written first, and where
/// the changed ones lie. A step to neither begins anew at the place that was left longer ago.
struct ReadaheadAtTwoPositions {
    private var here = Readahead()
    private var there = Readahead()
    /// Whether the last step was to neither, but for the walk's first.
    private(set) var isAstray = false
    private var hasBegun = false

    /// - Parameter offset: where the walk reads next.
    /// - Returns: what to ask the file for; mostly nil. It may reach past the file's end.
    mutating func reach(_ offset: UInt64) -> Range<UInt64>? {
        if !here.isNear(offset) { swap(&here, &there) }
        isAstray = hasBegun && !here.isNear(offset)
        hasBegun = true
        return here.reach(offset)
    }
}
