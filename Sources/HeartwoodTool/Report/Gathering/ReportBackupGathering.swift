import RecordLog

/// Looks at a backup: its lines of commits, and their health.
struct ReportBackupGathering {
    private static let archivesMax = 500

    private let path: String

    init(_ path: String) { self.path = path }

    func overview() throws -> (ReportOverview, ReportTimeline) {
        let archives = BackupArchives(at: try BackupText.destination(path))
        let problems = try AsyncWork.run { try await archives.verify { _, _ in } }
        let lines = try AsyncWork.run { try await archives.list(without: problems) }
        guard !lines.isEmpty || !problems.isEmpty else { throw ToolError.failure("there are no log archives in \(path)") }
        let bytes = lines.reduce(UInt64(0)) { sum, line in line.archives.reduce(sum) { $0.addingReportingOverflow($1.size).partialValue } }
        let lost = lines.flatMap { BackupStatusText.gaps($0.gaps, lost: $0.lost, of: $0, hasDamage: !problems.isEmpty) }
        let isSound = problems.isEmpty && lines.allSatisfy(\.lost.isEmpty)
        var check = ReportOverview.Check(
            state: isSound ? .sound : .damaged,
            summary: "\(Output.count(lines.reduce(0) { $0 + $1.archives.count }, "archive")), "
                + (problems.isEmpty ? "all whole" : "\(Output.number(problems.count)) damaged or gone"))
        check.lines = problems.prefix(100).map(\.description) + lost
        check.more = max(0, problems.count - 100)
        if !isSound { check.lines.append(BackupStatusText.remedy(hasDamage: !problems.isEmpty)) }
        var overview = ReportOverview(kind: "Backup", path: path, bytes: bytes, check: check)
        overview.facts = [
            ReportOverview.Fact(name: "Lines of commits", text: Output.number(lines.count)),
            ReportOverview.Fact(name: "Archives", text: Output.number(lines.reduce(0) { $0 + $1.archives.count })),
        ]
        let damaged = problems.map(\.location)
        overview.backups = lines.map { Self.line($0, damaged) }
        return (overview, Self.timeline(lines))
    }

    private static func line(_ line: BackupArchives.Line, _ damaged: [String]) -> ReportBackup {
        ReportBackup(
            store: line.storeID.uuidString, lineage: line.lineage.uuidString, restorable: BackupText.ranges(line.restorable),
            gaps: line.gaps.map(BackupText.range), archives: line.archives.suffix(archivesMax).reversed().map { archive in
                ReportBackup.Archive(
                    isBase: archive.isBase, isSound: !damaged.contains { $0.hasSuffix(archive.name) }, first: archive.commits.lowerBound,
                    last: archive.commits.upperBound, bytes: archive.size, from: ReportTitles.milliseconds(archive.times.lowerBound),
                    to: ReportTitles.milliseconds(archive.times.upperBound))
            }, more: max(0, line.archives.count - archivesMax))
    }

    /// A point for each archive.
    private static func timeline(_ lines: [BackupArchives.Line]) -> ReportTimeline {
        let all = lines.flatMap(\.archives).sorted { ($0.times.upperBound, $0.commits.upperBound) > ($1.times.upperBound, $1.commits.upperBound) }
        return ReportTimeline(
            noun: "archive", points: all.prefix(2000).map { archive in
                ReportTimeline.Point(
                    number: archive.commits.upperBound, time: ReportTitles.milliseconds(archive.times.upperBound), bytes: archive.size, author: nil,
                    rows: nil, changes: [])
            }, isCut: all.count > 2000)
    }
}
