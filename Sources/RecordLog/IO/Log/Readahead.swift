/// Issues readahead for the part of a mapped file that a scan reads next.
///
/// A scan reports its position and gets a range to request from the file (`StorageFile.willRead`), so that the disk and the scan work at
/// the same time.
///
/// Invariants:
/// 1. Nothing is requested before the scan has advanced twice: many scans end within two blocks of an index.
/// 2. A request begins at the end of the last one, in the direction of the scan, and is twice as long, up to `most`.
/// 3. A step of more than `nearby` starts over.
struct Readahead {
    /// While the scan is in this range, nothing is requested.
    private var covered: Range<UInt64> = .max ..< .max
    /// The last request.
    private var requested: Range<UInt64> = 0..<0
    private var length: UInt64 = 0
    /// The number of advances in one direction; negative for backward.
    private var steps = 0

    static let least: UInt64 = 64 << 10
    static let most: UInt64 = 4 << 20
    static let nearby: UInt64 = 64 << 10

    /// - Parameter offset: the next offset of the scan.
    /// - Returns: the range to request, which may extend past the file's end; usually nil.
    @inline(__always)
    mutating func reach(_ offset: UInt64) -> Range<UInt64>? {
        covered.contains(offset) ? nil : move(to: offset)
    }

    /// Whether the offset continues the scan.
    @inline(__always)
    fileprivate func isNear(_ offset: UInt64) -> Bool {
        if offset >= covered.upperBound { return offset - covered.upperBound <= Self.nearby }
        return offset >= covered.lowerBound || covered.lowerBound - offset <= Self.nearby
    }

    @inline(never)
    private mutating func move(to offset: UInt64) -> Range<UInt64>? {
        // Offsets may come from a damaged index.
        guard offset < .max / 2 else { return nil }
        let isForward = offset >= covered.upperBound
        if isNear(offset) {
            steps = isForward ? max(steps, 0) + 1 : min(steps, 0) - 1
        } else {
            steps = 0
        }
        guard abs(steps) > 1 else {
            (covered, requested, length) = (offset..<offset + 1, offset..<offset, 0)
            return nil
        }
        length = length == 0 ? Self.least : min(length * 2, Self.most)
        if isForward {
            let start = max(offset, requested.upperBound)
            requested = start..<start + length
            covered = offset..<requested.upperBound - length / 2
        } else {
            let end = min(offset, requested.lowerBound)
            requested = (end > length ? end - length : 0)..<end
            covered = (requested.lowerBound == 0 ? 0 : min(requested.lowerBound + length / 2, offset))..<offset + 1
        }
        return requested.isEmpty ? nil : requested
    }
}

/// Readahead for a scan that alternates between two positions. Rows need it when some were changed: the unchanged rows are at the
/// first position, the changed ones at the second. A step to neither restarts the position that was used longer ago.
struct ReadaheadAtTwoPositions {
    private var here = Readahead()
    private var there = Readahead()
    /// Whether the last step was to neither position; false for the scan's first step.
    private(set) var isAstray = false
    private var hasBegun = false

    /// - Parameter offset: the next offset of the scan.
    /// - Returns: the range to request, which may extend past the file's end; usually nil.
    mutating func reach(_ offset: UInt64) -> Range<UInt64>? {
        if !here.isNear(offset) { swap(&here, &there) }
        isAstray = hasBegun && !here.isNear(offset)
        hasBegun = true
        return here.reach(offset)
    }
}
