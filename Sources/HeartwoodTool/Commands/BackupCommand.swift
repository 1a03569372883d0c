import Foundation
import Heartwood
import RecordLog

struct BackupCommand: Command {
    static let name = "backup"
    static let summary = "keep every commit of a store in a directory, and look after such backups"
    static let help = """
        USAGE: heartwood backup STORE DESTINATION [--follow] [--interval SECONDS] [--max-bytes N]
               heartwood backup list|verify DESTINATION
               heartwood backup status STORE DESTINATION
               heartwood backup prune DESTINATION [--keep-last N] [--keep-hourly N] [--keep-daily N] [--keep-weekly N] [--keep-monthly N]
                                      [--dry-run]
               heartwood backup merge DESTINATION

          --follow           goes on until SIGINT or SIGTERM, which end it after its last piece
          --interval SECONDS the time between two looks at the store; 1 if not given
          --max-bytes N      about the most bytes of commits in one archive; 67108864 if not given

        Writes what DESTINATION lacks: all of the store's file the first time and after a compaction, the commits since. Others read,
        write, checkpoint and compact the store meanwhile. Every file appears whole. `heartwood restore` brings back any commit.

        list shows lines of commits, the commits that can be restored, gaps, sizes and times. status compares the store with its backup, and
        says since when it is behind: it looks at the names and lengths of all files and at both ends of each, and reads the newest one.
        verify reads everything. Both fail if files are damaged or missing, or if commits cannot be restored because of that. Commits
        that a compaction or a prune has taken are named, and are no failure. prune keeps the last state of each of the newest
        hours, days, weeks and months in which there is one, by UTC; it never breaks the chain of the newest commit, nor what a running
        restore needs. merge makes large files of small ones.

        DESTINATION is a directory: of another disk, of a mounted share, or one that another program copies elsewhere. One directory
        takes the backups of several stores. A STORE of one of the names above is given as ./list.
        """
    static let options: Set<String> = [
        "interval", "max-bytes", "keep-last", "keep-hourly", "keep-daily", "keep-weekly", "keep-monthly",
    ]
    static let flags: Set<String> = ["follow", "dry-run"]
    static let adviceForDatabases: String? = "the server's own tools back it up: pg_dump, or the archive of its log"

    private enum Action: String {
        case list, verify, status, prune, merge
    }

    private let action: Action?
    private let store: String
    private let destination: DirectoryDestination
    private let interval: Duration
    private let bytesMax: UInt64
    private let follows: Bool
    private let isTrial: Bool
    private var policy = RetentionPolicy()

    init(_ arguments: Arguments) throws {
        action = arguments.positional.first.flatMap(Action.init)
        let names = switch action {
        case nil: ["STORE", "DESTINATION"]
        case .status: ["status", "STORE", "DESTINATION"]
        case .some: ["", "DESTINATION"]
        }
        let found = try arguments.exactly(names)
        store = action == .status ? found[1] : found[0]
        destination = try BackupText.destination(found[found.count - 1])
        interval = try BackupText.seconds("interval", arguments["interval"], default: 1)
        bytesMax = UInt64(try arguments.integer("max-bytes", default: 64 << 20, from: 1))
        follows = arguments.has("follow")
        isTrial = arguments.has("dry-run")
        policy.last = try arguments.integer("keep-last", default: 0)
        policy.hourly = try arguments.integer("keep-hourly", default: 0)
        policy.daily = try arguments.integer("keep-daily", default: 0)
        policy.weekly = try arguments.integer("keep-weekly", default: 0)
        policy.monthly = try arguments.integer("keep-monthly", default: 0)
        guard action == .prune || policy == RetentionPolicy() && !isTrial else {
            throw ToolError.usage("only prune takes --keep-… and --dry-run")
        }
        guard action != .prune || policy != RetentionPolicy() else { throw ToolError.usage("prune needs at least one --keep-… of more than 0") }
        guard action == nil || !follows && arguments["interval"] == nil && arguments["max-bytes"] == nil else {
            throw ToolError.usage("\(found[0]) takes neither --follow, --interval nor --max-bytes")
        }
        guard follows || arguments["interval"] == nil else { throw ToolError.usage("--interval needs --follow") }
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
