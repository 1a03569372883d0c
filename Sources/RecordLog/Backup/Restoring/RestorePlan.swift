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
    var bytes: UInt64 { steps.reduce(0) { $0.addingOrMax($1.archive.size) } }

    /// The chain of the fewest bytes for a commit; nil if no chain reaches it.
    init?(for sequence: UInt64, of parts: [LinePart]) {
        let plans = Dictionary(grouping: parts, by: \.name.fileID).values.flatMap { Self.plans(for: sequence, of: $0) }
        // One of several equal plans is chosen by its name, so that the choice is always the same.
        guard let best = plans.min(by: { ($0.bytes, $0.steps[0].archive.name) < ($1.bytes, $1.steps[0].archive.name) })
        else { return nil }
        self = best
    }

    private init(steps: [Step]) { self.steps = steps }

    /// The chains of one file, one for each base archive.
    private static func plans(for sequence: UInt64, of parts: [LinePart]) -> [RestorePlan] {
        let increments = increments(of: parts)
        return parts.filter { $0.name.isBase && $0.name.first <= sequence }.compactMap { base in
            let steps = chain(from: base, increments, upTo: sequence)
            return steps[steps.count - 1].reach == sequence ? RestorePlan(steps: steps) : nil
        }
    }

    private static func increments(of parts: [LinePart]) -> [LinePart] {
        parts.filter { !$0.name.isBase }.sorted(by: isBefore)
    }

    private static func isBefore(_ a: LinePart, _ b: LinePart) -> Bool {
        (a.name.first, a.reach, a.name) < (b.name.first, b.reach, b.name)
    }

    /// The longest chain from a base archive, up to a commit: at each step the increment that reaches farthest.
    /// - Parameter increments: of the same file, by their first commits.
    private static func chain(from base: LinePart, _ increments: [LinePart], upTo sequence: UInt64) -> [Step] {
        let first = Step(archive: base.archive, reach: min(base.reach, sequence))
        return chain(behind: [first], reached: first.reach, increments, upTo: sequence)
    }

    private static func chain(behind start: [Step], reached: UInt64, _ increments: [LinePart], upTo sequence: UInt64) -> [Step] {
        var steps = start, reached = reached
        var best: LinePart?, next = 0
        while reached < sequence {
            while next < increments.count, increments[next].name.first <= reached + 1 {
                let part = increments[next]
                next += 1
                let reach = min(part.reach, sequence), known = best.map { min($0.reach, sequence) } ?? 0
                if reach > known || reach == known && part.archive.size < best?.archive.size ?? 0 { best = part }
            }
            guard let best, best.reach > reached else { break }
            reached = min(best.reach, sequence)
            steps.append(Step(archive: best.archive, reach: reached))
        }
        return steps
    }

    /// The archives of a file that go on behind a commit, as far as there is no gap.
    static func continuation(behind sequence: UInt64, of fileID: UInt64, _ parts: [LinePart]) -> [Step] {
        let own = parts.filter { $0.name.fileID == fileID && $0.reach > sequence }
        return chain(behind: [], reached: sequence, own.sorted(by: isBefore), upTo: .max)
    }

    // MARK: Coverage

    /// The longest chain of one file; nil without a base archive.
    static func longest(of fileID: UInt64, _ parts: [LinePart]) -> RestorePlan? {
        let own = parts.filter { $0.name.fileID == fileID }
        let increments = increments(of: own)
        let plans = own.filter(\.name.isBase).map { RestorePlan(steps: chain(from: $0, increments, upTo: .max)) }
        return plans.max { ($0.sequence, $1.bytes) < ($1.sequence, $0.bytes) }
    }

    /// The commits that can be restored, as ranges without overlaps in rising order.
    static func coverage(_ parts: [LinePart]) -> [ClosedRange<UInt64>] {
        var ranges: [ClosedRange<UInt64>] = []
        for base in parts where base.name.isBase {
            let own = increments(of: parts.filter { $0.name.fileID == base.name.fileID })
            ranges.append(base.name.first...(chain(from: base, own, upTo: .max).last?.reach ?? base.reach))
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
