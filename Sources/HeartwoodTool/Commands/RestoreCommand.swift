import Foundation
import Heartwood
import RecordLog

struct RestoreCommand: Command {
    static let name = "restore"

    private static let output = Parameter.output("STORE", .file, "the file of the restored store").required()
    private static let time = TimeArgument.option(
        "at", day: .end,
        """
        the state after the last commit at or before a time: ISO 8601, as 2026-11-21T12:00:00Z, or seconds since 1970. A day alone, 2026-11-21, \
        is its end by UTC
        """)
    private static let commit = Parameter.integer("commit", from: 1, "the state after the commit of this number")
    private static let replace = Parameter.flag("replace", "replaces the file STORE, at the end and whole")
    private static let storeID = BackupText.identity("store", "the store, where the backup is of several")
    private static let follow = Parameter.flag(
        "follow", "keeps STORE a replica until SIGINT or SIGTERM; other processes read it and see each new commit")

    static let declaration = CommandDeclaration(
        "Brings back any commit of a store from a backup, or keeps a replica up to date.",
        [
            CommandForm(
                [BackupText.destination], options: [Self.output, time, commit, replace, Self.storeID, BackupText.lineage, follow, BackupText.interval],
                rules: [.excludes(time, [commit]), .excludes(follow, [time, commit, replace]), .needs(BackupText.interval, follow)])
        ],
        databases: .refused("the server's own tools restore it: pg_restore, or psql"),
        discussion: """
            Checks every checksum and the chain of commits. If the state that is asked for cannot be had, because files of the backup are
            damaged or gone, nothing is restored, and the error names the newest earlier commit that can be restored. An interrupted restore
            leaves STORE as it was, and is taken up by the next one.

            The restored store has its old identity and begins a line of commits of its own, so a backup of it may go to the same
            destination. Writing to a replica is refused; `heartwood promote` makes a store of it.

            \(BucketBackup.help)
            """,
        examples: [
            .init("restore /mnt/backups -o app.heartwood --at 2026-11-21T12:00:00Z", "the store as it was at that time"),
            .init("restore /mnt/backups -o replica.heartwood --follow", "a replica that others read"),
        ])

    private let destination: any BackupDestination
    private let output: String
    private let point: StoreRestore.Point
    private let storeID: StoredUUID?
    private let lineage: StoredUUID?
    private let replaces: Bool
    private let follows: Bool
    private let interval: Duration

    init(_ arguments: Arguments) throws {
        destination = try arguments[BackupText.destination]
        output = try arguments[Self.output]
        let time = try arguments[Self.time], commit = try arguments[Self.commit]
        point = time.map(StoreRestore.Point.time) ?? commit.map { .commit(UInt64($0)) } ?? .newest
        storeID = try arguments[Self.storeID]
        lineage = try arguments[BackupText.lineage]
        replaces = try arguments[Self.replace]
        follows = try arguments[Self.follow]
        interval = try arguments[BackupText.interval]
    }

    func run() throws -> Int32 {
        if follows { return try follow() }
        var restore = StoreRestore(from: destination, to: output, options: StoredModel.options)
        restore.storeID = storeID
        restore.lineage = lineage
        let progress = SharedProgress("restoring"), point = point, replaces = replaces
        let report = try AsyncWork.run { [restore] in
            try await restore.run(at: point, replacing: replaces) { progress.update($0.bytesDone, $0.bytesTotal) }
        }
        progress.finish()
        for problem in report.skipped { Output.line("left out, since other archives have its commits: \(problem.description)") }
        for range in report.damagedIndexes { Output.line("made anew, since the backup has a damaged index there: \(BackupText.bytes(range))") }
        Output.line("commit \(BackupText.number(report.sequence)) of lineage \(report.source), in \(output)")
        Output.line("\(output) goes on as lineage \(report.lineage)")
        return 0
    }

    private func follow() throws -> Int32 {
        var replica = StoreReplica(from: destination, at: output, options: StoredModel.options)
        replica.storeID = storeID
        replica.lineage = lineage
        let line = FollowLine(), interval = interval
        try AsyncWork.run(stopsBySignal: true) { [replica] in
            try await replica.follow(every: interval) { status in
                line.show(
                    "commit \(BackupText.number(status.sequence)), \(Output.bytes(status.bytes))", error: status.error, since: status.behindSince)
            }
        }
        line.clear()
        Output.line("stopped")
        return 0
    }
}
