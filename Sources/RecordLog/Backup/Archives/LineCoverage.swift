/// The commits of a line that can be restored, and those between its oldest and its newest that cannot.
struct LineCoverage {
    /// Rising, without overlaps.
    let restorable: [ClosedRange<UInt64>]
    /// The commits that cannot be restored, from the oldest that an archive has to the newest that was put.
    let gaps: [ClosedRange<UInt64>]
    /// The gaps into which an archive reaches, which is damaged or lacks one before it; those right before an increment; and that of the newest
    /// commit that was acknowledged. No archive tells of the others: a compaction or a prune has taken their commits, or the last archives of an
    /// older file are gone.
    let lost: [ClosedRange<UInt64>]

    /// - Parameters:
    ///   - parts: all archives of the line.
    ///   - damaged: those that cannot be used.
    ///   - acknowledged: the newest commit of the line of which a head tells; 0 for none.
    init(_ parts: [LinePart], without damaged: Set<ArchiveName> = [], acknowledged: UInt64) {
        let usable = parts.filter { !damaged.contains($0.name) }
        restorable = RestorePlan.coverage(usable)
        let last = max(parts.map(\.reach).max() ?? 0, acknowledged)
        gaps = Self.gaps(between: restorable, from: parts.map(\.name.first).min() ?? max(acknowledged, 1), to: last)
        let missing = Self.missing(usable)
        lost = gaps.filter { gap in
            gap.contains(acknowledged) || missing.contains(where: gap.contains) || parts.contains { gap.overlaps($0.name.first...max($0.name.first, $0.reach)) }
        }
    }

    /// The commits that increments follow, and that no chain of their file has.
    private static func missing(_ parts: [LinePart]) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for own in Dictionary(grouping: parts, by: \.name.fileID).values {
            let coverage = RestorePlan.coverage(own)
            for part in own where !part.name.isBase && !coverage.contains(where: { $0.contains(part.name.first - 1) }) {
                found.insert(part.name.first - 1)
            }
        }
        return found
    }

    private static func gaps(between ranges: [ClosedRange<UInt64>], from first: UInt64, to last: UInt64) -> [ClosedRange<UInt64>] {
        var next = first, gaps: [ClosedRange<UInt64>] = []
        for range in ranges {
            if next < range.lowerBound { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        return next <= last ? gaps + [next...last] : gaps
    }
}
