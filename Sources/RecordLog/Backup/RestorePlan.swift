/// The archives from which a commit of a line can be restored. It is made from names only.
///
/// A chain begins with a base archive of one physical file, and goes on with increments of that file, without a gap. Archives may overlap.
struct RestorePlan: Equatable, Sendable {
    struct Step: Equatable, Sendable {
        var archive: ListedArchive
        /// The last commit that is taken from the archive.
        var reach: UInt64
    }

    /// The base archive first.
    var steps: [Step]

    var sequence: UInt64 { steps.last?.reach ?? 0 }

    /// The archives' bytes.
    var bytes: UInt64 { steps.reduce(0) { $0 + $1.archive.size } }

    /// The chain of the fewest bytes for a commit; nil if no chain reaches it.
    init?(for sequence: UInt64, of parts: [LinePart]) {
        let plans = Dictionary(grouping: parts, by: \.name.fileID).values.flatMap { Self.plans(for: sequence, of: $0) }
        // One of several equal plans is chosen by its name, so that the choice is always the same.
        guard let best = plans.min(by: { ($0.bytes, $0.steps[0].archive.name.text) < ($1.bytes, $1.steps[0].archive.name.text) })
        else { return nil }
        self = best
    }

    private init(steps: [Step]) { self.steps = steps }

    /// The chains of one file, one for each base archive.
    private static func plans(for sequence: UInt64, of parts: [LinePart]) -> [RestorePlan] {
        parts.filter { $0.name.isBase && $0.name.first <= sequence }.compactMap { base in
            let steps = chain(from: base, of: parts, upTo: sequence)
            return steps[steps.count - 1].reach == sequence ? RestorePlan(steps: steps) : nil
        }
    }

    /// The longest chain from a base archive, up to a commit.
    private static func chain(from base: LinePart, of parts: [LinePart], upTo sequence: UInt64) -> [Step] {
        var steps = [Step(archive: base.archive, reach: min(base.reach, sequence))]
        while let reached = steps.last?.reach, reached < sequence {
            var best: LinePart?
            for part in parts where !part.name.isBase && part.name.first <= reached + 1 && part.reach > reached {
                guard let known = best else {
                    best = part
                    continue
                }
                // The one that reaches farthest; of those the one with the fewest bytes.
                let (reach, old) = (min(part.reach, sequence), min(known.reach, sequence))
                if reach > old || reach == old && part.archive.size < known.archive.size { best = part }
            }
            guard let best else { break }
            steps.append(Step(archive: best.archive, reach: min(best.reach, sequence)))
        }
        return steps
    }

    // MARK: Coverage

    /// The longest chain of one file; nil without a base archive.
    static func longest(of fileID: UInt64, _ parts: [LinePart]) -> RestorePlan? {
        let own = parts.filter { $0.name.fileID == fileID }
        let plans = own.filter(\.name.isBase).map { RestorePlan(steps: chain(from: $0, of: own, upTo: .max)) }
        return plans.max { ($0.sequence, $1.bytes) < ($1.sequence, $0.bytes) }
    }

    /// The commits that can be restored, as ranges without overlaps in rising order.
    static func coverage(_ parts: [LinePart]) -> [ClosedRange<UInt64>] {
        var ranges: [ClosedRange<UInt64>] = []
        for base in parts where base.name.isBase {
            let own = parts.filter { $0.name.fileID == base.name.fileID }
            ranges.append(base.name.first...(chain(from: base, of: own, upTo: .max).last?.reach ?? base.reach))
        }
        var merged: [ClosedRange<UInt64>] = []
        for range in ranges.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = merged.last, range.lowerBound <= last.upperBound || range.lowerBound == last.upperBound + 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}
