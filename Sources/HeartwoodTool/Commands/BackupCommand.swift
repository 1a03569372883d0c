import Foundation
import Heartwood
import RecordLog

struct BackupCommand: Command {
    static let name = "backup"

    private enum Action: String {
        case list, verify, status, prune, merge
    }

    private static let store = Parameter.argument("STORE", .store, "a store's file; one with the name of a form is given as ./list").required()
    private static let place = BackupText.destination
    private static let follow = Parameter.flag("follow", "goes on until SIGINT or SIGTERM, which end it after its last piece")
    private static let bytesMax = Parameter.integer("max-bytes", from: 1, "about the most bytes of commits in one archive")
        .or(64 << 20, shown: "67,108,864")
    private static let keepLast = Parameter.integer("keep-last", "keeps the newest N states").or(0)
    private static let keepHourly = Parameter.integer("keep-hourly", "keeps the last state of each of the newest N hours, by UTC").or(0)
    private static let keepDaily = Parameter.integer("keep-daily", "the same for days").or(0)
    private static let keepWeekly = Parameter.integer("keep-weekly", "the same for weeks").or(0)
    private static let keepMonthly = Parameter.integer("keep-monthly", "the same for months").or(0)
    private static let dryRun = Parameter.flag("dry-run", "lists what would be deleted, and deletes nothing")

    static let declaration = CommandDeclaration(
        "Keeps every commit of a store elsewhere, and looks after such backups.",
        [
            CommandForm([Self.store, place], options: [follow, BackupText.interval, Self.bytesMax], rules: [.needs(BackupText.interval, follow)]),
            CommandForm(
                "list", meaning: "shows lines of commits, the commits that can be restored, gaps, sizes and times", [place]),
            CommandForm("verify", meaning: "reads everything, and fails if files are damaged or missing", [place]),
            CommandForm(
                "status",
                meaning: """
                    compares the store with its backup, and says since when it is behind: it looks at the names and lengths of all files and at \
                    both ends of each, and reads the newest one
                    """, [Self.store, place]),
            CommandForm(
                "prune",
                meaning: """
                    deletes what no --keep-… asks for; it never breaks the chain of the newest commit, nor what a running restore needs
                    """, [place], options: [keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, dryRun]),
            CommandForm("merge", meaning: "makes large files of small ones", [place]),
        ],
        databases: .refused("the server's own tools back it up: pg_dump, or the archive of its log"),
        exits: [.done, ExitCode(1, "failed, or commits cannot be restored because files are damaged or missing"), .wrongUsage],
        discussion: """
            Writes what DESTINATION lacks: all of the store's file the first time and after a compaction, the commits since. Others read,
            write, checkpoint and compact the store meanwhile. Every file appears whole. `heartwood restore` brings back any commit.

            Commits that a compaction or a prune has taken are named, and are no failure.

            One directory takes the backups of several stores. It may be of another disk, of a mounted share, or one that another program copies
            elsewhere.

            \(BucketBackup.help)
            """,
        examples: [
            .init("backup app.heartwood /mnt/backups", "writes the commits that the backup lacks"),
            .init("backup app.heartwood s3://backups/app --follow", "keeps a backup in a bucket up to date"),
            .init("backup prune /mnt/backups --keep-daily 7 --keep-weekly 8", "deletes older states"),
        ])

    private let action: Action?
    private let store: String
    private let destination: any BackupDestination
    private let interval: Duration
    private let bytesMax: UInt64
    private let follows: Bool
    private let isTrial: Bool
    private var policy = RetentionPolicy()

    init(_ arguments: Arguments) throws {
        action = arguments.keyword.flatMap(Action.init)
        store = arguments.has(Self.store) ? try arguments[Self.store] : ""
        destination = try arguments[Self.place]
        interval = try arguments[BackupText.interval]
        bytesMax = UInt64(try arguments[Self.bytesMax])
        follows = try arguments[Self.follow]
        isTrial = try arguments[Self.dryRun]
        policy.last = try arguments[Self.keepLast]
        policy.hourly = try arguments[Self.keepHourly]
        policy.daily = try arguments[Self.keepDaily]
        policy.weekly = try arguments[Self.keepWeekly]
        policy.monthly = try arguments[Self.keepMonthly]
        guard action != .prune || policy != RetentionPolicy() else { throw ToolError.usage("prune needs at least one --keep-… of more than 0") }
    }

    func run() throws -> Int32 {
        switch action {
        case nil: try backUp()
        case .list: try list()
        case .verify: try verify()
        case .status: try status()
        case .prune: try prune()
        case .merge: try merge()
        }
    }

    // MARK: Backing up

    private var backup: StoreBackup {
        var backup = StoreBackup(of: store, to: destination, options: StoredModel.options)
        backup.bytesMax = bytesMax
        return backup
    }

    private func backUp() throws -> Int32 {
        try CoreDataStore.refuse(store, "copy it with SQLite's own `.backup`, or \(CoreDataStore.conversion(store))")
        let backup = backup
        guard follows else {
            let report = try AsyncWork.run { try await backup.run() }
            Self.show(report)
            return 0
        }
        let line = FollowLine(), interval = interval
        try AsyncWork.run(stopsBySignal: true) {
            try await backup.follow(every: interval) { status in
                for range in status.newest.missing { line.event(Self.missing(range)) }
                for range in status.newest.damagedIndexes { line.event(Self.damaged(range)) }
                if status.newest.baseArchives > 0 { line.event("a full copy, as of commit \(BackupText.number(status.newest.sequence))") }
                line.show(Self.text(status), error: status.error, since: status.behindSince)
            }
        }
        line.clear()
        Output.line("stopped; every commit is in \(destination)")
        return 0
    }

    private static func show(_ report: StoreBackup.Report) {
        for range in report.missing { Output.line(missing(range)) }
        for range in report.damagedIndexes { Output.line(damaged(range)) }
        guard report.lineage != nil else { return Output.line("the store has no commit yet") }
        guard report.archives > 0 else { return Output.line("nothing new; commit \(BackupText.number(report.sequence)) is the newest") }
        let kind = report.baseArchives > 0 ? ", a full copy among them" : ""
        let last = BackupText.number(report.sequence)
        Output.line("\(Output.count(report.archives, "archive"))\(kind): \(Output.bytes(report.bytes)), up to commit \(last)")
    }

    private static func missing(_ range: ClosedRange<UInt64>) -> String {
        "commits \(BackupText.range(range)) cannot be restored one by one: a compaction took them before they were backed up; "
            + "later ones have their rows"
    }

    private static func damaged(_ range: Range<UInt64>) -> String {
        "the store has a damaged index at \(BackupText.bytes(range)), which the backup leaves out; the backup has every commit. "
            + "`heartwood verify` shows more, and `heartwood compact` makes the indexes anew"
    }

    private static func text(_ status: StoreBackup.Status) -> String {
        let total = status.total, lag = status.lag.map { ", lag \(BackupText.seconds($0))" } ?? ""
        return "commit \(BackupText.number(total.sequence)), \(Output.count(total.archives, "archive")), \(Output.bytes(total.bytes))\(lag)"
    }

    // MARK: Looking after backups

    private var archives: BackupArchives { BackupArchives(at: destination) }

    /// The lines of commits at the destination.
    /// - Throws: a failure if there are none: a disk that is not mounted must not pass for a backup without a fault.
    private func lines(without problems: [BackupError] = []) throws -> [BackupArchives.Line] {
        let archives = archives
        let lines = try AsyncWork.run { try await archives.list(without: problems) }
        guard !lines.isEmpty || !problems.isEmpty else { throw ToolError.failure("there are no log archives in \(destination)") }
        return lines
    }

    private func list() throws -> Int32 {
        for line in try lines() { Output.lines(BackupText.lines(of: line)) }
        return 0
    }

    private func status() throws -> Int32 {
        try CoreDataStore.refuse(store, "it has no backup of this kind")
        let archives = archives, backup = backup
        let (standing, lines) = try AsyncWork.run {
            let standing = try await backup.standing()
            return (standing, try await archives.list(without: standing.damaged))
        }
        guard let line = lines.first(where: { $0.storeID == standing.storeID && $0.lineage == standing.lineage }) else {
            Output.line("there is no backup of lineage \(standing.lineage) of store \(standing.storeID) in \(destination)")
            return 1
        }
        Output.lines(BackupStatusText.lines(of: standing, line))
        return standing.isSound ? 0 : 1
    }

    private func verify() throws -> Int32 {
        let archives = archives, progress = SharedProgress("verifying")
        let problems = try AsyncWork.run { try await archives.verify(progress: progress.update) }
        progress.finish()
        for problem in problems { Output.line(problem.description) }
        let lines = try lines(without: problems)
        for line in lines {
            for gap in BackupStatusText.gaps(line.gaps, lost: line.lost, of: line, hasDamage: !problems.isEmpty) {
                Output.line("lineage \(line.lineage): \(gap)")
            }
        }
        Output.line(
            "\(Output.count(lines.reduce(0) { $0 + $1.archives.count }, "archive")), "
                + "\(problems.isEmpty ? "all whole" : "\(Output.number(problems.count)) damaged or gone")")
        guard !problems.isEmpty || lines.contains(where: { !$0.lost.isEmpty }) else { return 0 }
        Output.line(BackupStatusText.remedy(hasDamage: !problems.isEmpty))
        return 1
    }

    private func prune() throws -> Int32 {
        _ = try lines()
        let archives = archives, policy = policy, isTrial = isTrial
        let report = try AsyncWork.run { try await archives.prune(keeping: policy, isTrial: isTrial) }
        if isTrial { Output.lines(report.deleted.map { "\(BackupText.archive($0)) (\($0.name))" }) }
        let verb = isTrial ? "would be deleted" : "deleted"
        let kept = Output.number(report.keptArchives)
        Output.line("\(Output.count(report.deleted.count, "archive")) \(verb), \(Output.bytes(report.bytes)); \(kept) kept")
        if !report.pinned.isEmpty { Output.line("\(Output.count(report.pinned.count, "archive")) left for a running restore") }
        for lineage in report.broken {
            Output.line("lineage \(lineage): nothing is deleted, since its newest commit cannot be restored; `heartwood backup list` shows why")
        }
        return report.broken.isEmpty ? 0 : 1
    }

    private func merge() throws -> Int32 {
        _ = try lines()
        let archives = archives
        let report = try AsyncWork.run { try await archives.merge() }
        Output.line("\(Output.count(report.merged, "archive")) merged into \(Output.number(report.made)), \(Output.bytes(report.bytes))")
        if report.covered > 0 { Output.line("\(Output.count(report.covered, "archive")) deleted, whose commits a larger one has") }
        return 0
    }
}
