import Testing

@testable import RecordLog

@Suite struct RestorePlanTests {
    private static let store = StoredUUID(words: (1, 1)), parent = StoredUUID(words: (2, 2)), child = StoredUUID(words: (3, 3))

    /// An archive of a file, as a few numbers.
    private struct Archive {
        var file: UInt64 = 1
        var first: UInt64
        var last: UInt64
        var isBase = false
        var line = RestorePlanTests.parent
        var fork: UInt64?

        var listed: ListedArchive {
            let header = LogArchiveHeader(
                segmentShift: 16, isBase: isBase, storeID: RestorePlanTests.store,
                lineage: Lineage(
                    id: line, fork: fork.map { Lineage.Fork(parent: RestorePlanTests.parent, sequence: $0, checksum: 0, fileID: 0) }),
                fileID: file, storeVersion: 1, first: first, last: last, leastTime: 0, greatestTime: 0, previousChecksum: 0, lastChecksum: 0,
                lastFrame: 0, start: 0, end: 0, frameBytes: 0)
            return ListedArchive(name: ArchiveName(header), size: 100 + last - first)
        }
    }

    /// All archives over four commits: each range, as a base where it begins with the first commit.
    private static let ranges: [Archive] = (1...4 as ClosedRange<UInt64>).flatMap { first in
        (first...4).map { Archive(first: first, last: $0, isBase: first == 1) }
    }

    /// The commits that a set of archives covers, one archive after the other until nothing changes.
    private static func reachable(_ archives: [(archive: Archive, limit: UInt64)]) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for base in archives where base.archive.isBase && base.archive.first <= base.limit {
            var reached = min(base.archive.last, base.limit), before: UInt64 = 0
            while reached > before {
                before = reached
                for other in archives where other.archive.file == base.archive.file && !other.archive.isBase {
                    if other.archive.first <= reached + 1 { reached = max(reached, min(other.archive.last, other.limit)) }
                }
            }
            found.formUnion(base.archive.first...reached)
        }
        return found
    }

    private static func check(_ archives: [(archive: Archive, limit: UInt64)], _ lineage: Lineage) -> String? {
        let catalog = BackupCatalog(storeID: store, archives: archives.map(\.archive.listed))
        let parts = catalog.parts(of: lineage), reachable = reachable(archives)
        for sequence in 1...7 as ClosedRange<UInt64> {
            let plan = RestorePlan(for: sequence, of: parts)
            guard (plan != nil) == reachable.contains(sequence) else { return "commit \(sequence): \(String(describing: plan))" }
            if let plan, let problem = problem(plan, sequence) { return problem }
        }
        let covered = RestorePlan.coverage(parts).flatMap(Array.init)
        return covered == reachable.sorted() ? nil : "covered are \(covered), reachable \(reachable.sorted())"
    }

    private static func problem(_ plan: RestorePlan, _ sequence: UInt64) -> String? {
        guard plan.steps.first?.archive.name.isBase == true, plan.sequence == sequence else { return "\(plan) does not reach \(sequence)" }
        for (step, next) in zip(plan.steps, plan.steps.dropFirst()) {
            let name = next.archive.name
            guard !name.isBase, name.fileID == step.archive.name.fileID, name.first <= step.reach + 1, next.reach > step.reach,
                next.reach <= name.last
            else { return "\(next) does not follow \(step)" }
        }
        return nil
    }

    @Test
    func `A plan exists for a commit exactly if a chain of archives reaches it, for each set of archives of one file`() {
        for set in 0..<1 << Self.ranges.count {
            let chosen = Self.ranges.indices.filter { set >> $0 & 1 == 1 }.map { (archive: Self.ranges[$0], limit: UInt64.max) }
            let problem = Self.check(chosen, Lineage(id: Self.parent, fork: nil))
            if let problem { Issue.record("\(chosen.map { ($0.archive.first, $0.archive.last) }): \(problem)") }
        }
    }

    @Test
    func `Archives of two files do not make one chain`() {
        let second = [
            Archive(file: 2, first: 3, last: 3, isBase: true), Archive(file: 2, first: 4, last: 5),
            Archive(file: 2, first: 3, last: 6, isBase: true), Archive(file: 2, first: 6, last: 7),
        ]
        let few = [0, 1, 4, 5, 8, 9].map { Self.ranges[$0] } + second
        for set in 0..<1 << few.count {
            let chosen = few.indices.filter { set >> $0 & 1 == 1 }.map { (archive: few[$0], limit: UInt64.max) }
            let problem = Self.check(chosen, Lineage(id: Self.parent, fork: nil))
            if let problem { Issue.record("set \(set): \(problem)") }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `A line takes its parent's archives up to the fork and no further`(fork: UInt64) {
        let children = [(fork + 1, fork + 1), (fork + 1, fork + 2), (fork + 2, fork + 3)].map {
            Archive(first: $0.0, last: $0.1, line: Self.child, fork: fork)
        } + [Archive(file: 2, first: fork + 2, last: fork + 3, isBase: true, line: Self.child, fork: fork)]
        let few = [0, 1, 3, 4, 6, 8, 9].map { Self.ranges[$0] } + children
        for set in 0..<1 << few.count {
            let chosen = few.indices.filter { set >> $0 & 1 == 1 }
            let all = chosen.map { (archive: few[$0], limit: few[$0].fork == nil ? fork : UInt64.max) }
            let lineage = Lineage(
                id: Self.child, fork: Lineage.Fork(parent: Self.parent, sequence: fork, checksum: 0, fileID: 0))
            if let problem = Self.check(all, lineage) { Issue.record("a fork at \(fork), set \(set): \(problem)") }
        }
    }

    @Test
    func `Of two chains the one with fewer bytes is taken`() throws {
        var large = Archive(first: 1, last: 3, isBase: true).listed, small = Archive(file: 2, first: 3, last: 3, isBase: true).listed
        large.size = 1000
        small.size = 999
        let parts = [large, small].compactMap { LinePart($0, limit: .max) }
        #expect(try #require(RestorePlan(for: 3, of: parts)).steps.map(\.archive) == [small])
        #expect(try #require(RestorePlan(for: 2, of: parts)).steps.map(\.archive) == [large])
    }
}
