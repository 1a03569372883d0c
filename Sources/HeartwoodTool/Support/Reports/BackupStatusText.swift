import RecordLog

/// What the commands say of the state of a backup: how far it is, and what of it cannot be restored.
enum BackupStatusText {
    /// The way to mend a backup, as far as the store can.
    static func remedy(hasDamage: Bool) -> String {
        (hasDamage ? "move damaged files elsewhere and run `heartwood backup` again" : "run `heartwood backup` again")
            + ": it puts again what the store still has"
    }

    static func lines(of standing: StoreBackup.Standing, _ line: BackupArchives.Line) -> [String] {
        let newest = standing.sequence == 0 ? "none" : BackupText.number(standing.sequence)
        var lines = [
            "lineage \(line.lineage)", "newest commit of the store: \(BackupText.number(standing.storeSequence))",
            "newest commit that can be restored: \(newest)", state(standing),
        ]
        if standing.acknowledged > standing.sequence {
            let remedy = standing.damaged.isEmpty ? ": `heartwood backup` puts it again" : ""
            lines.append("commit \(BackupText.number(standing.acknowledged)) was backed up, and is damaged or deleted\(remedy)")
        }
        lines += standing.damaged.map(\.description) + gaps(standing.gaps, lost: standing.lost, of: line, hasDamage: !standing.damaged.isEmpty)
        if !standing.damaged.isEmpty, standing.lost.isEmpty {
            lines.append("other archives have every commit of the damaged files: delete these")
        } else if !standing.isSound, !standing.damaged.isEmpty || standing.sequence >= standing.storeSequence {
            lines.append(remedy(hasDamage: !standing.damaged.isEmpty))
        }
        return lines + [looked(standing)]
    }

    private static func state(_ standing: StoreBackup.Standing) -> String {
        guard standing.sequence >= standing.storeSequence else { return behind(standing) }
        return standing.isSound ? "up to date" : "the newest commit is there, and older parts of the backup are damaged"
    }

    /// What a status has looked at: it vouches for nothing else.
    private static func looked(_ standing: StoreBackup.Standing) -> String {
        let newest = standing.isNewestRead ? ", and all of the newest" : ""
        return "looked at: names, lengths and both ends of \(Output.count(standing.archives, "archive"))\(newest); "
            + "`heartwood backup verify` reads everything"
    }

    /// How far a backup is behind its store.
    private static func behind(_ standing: StoreBackup.Standing) -> String {
        let commits = standing.storeSequence - standing.sequence
        let since = standing.behindSince.map { ", since \(BackupText.time($0))" } ?? ""
        return "behind by \(BackupText.number(commits)) \(commits == 1 ? "commit" : "commits")\(since)"
    }

    // MARK: Gaps

    /// The commits of a line that cannot be restored, with the reasons.
    /// - Parameter hasDamage: whether archives are known that are damaged.
    static func gaps(
        _ gaps: [ClosedRange<UInt64>], lost: [ClosedRange<UInt64>], of line: BackupArchives.Line, hasDamage: Bool
    ) -> [String] {
        gaps.map { gap in
            let what = "\(gap.count == 1 ? "commit" : "commits") \(BackupText.range(gap)) cannot be restored: "
            return what + (lost.contains(gap) ? reason(gap, line, hasDamage) : taken)
        }
    }

    private static let taken = "no archive has them: a compaction took them away before they were backed up, a prune deleted them, "
        + "or the last files before a compaction are gone"

    private static func reason(_ gap: ClosedRange<UInt64>, _ line: BackupArchives.Line, _ hasDamage: Bool) -> String {
        if gap.contains(line.acknowledged), line.acknowledged > line.newest { return "the archives with the newest of them were deleted" }
        let reaching = line.archives.count { gap.overlaps($0.commits) }
        guard reaching > 0 else { return "archives of the line that this one left are damaged or missing" }
        let missing = "an archive is missing that \(Output.count(reaching, "archive")) with commits of them would follow"
        return hasDamage ? "their archives, or those before them, are damaged or missing" : missing
    }
}
