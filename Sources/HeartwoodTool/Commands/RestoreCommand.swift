import Foundation
import Heartwood
import RecordLog

struct RestoreCommand: Command {
    static let name = "restore"
    static let summary = "bring back any commit of a store from a backup, or keep a replica up to date"
    static let help = """
        USAGE: heartwood restore DESTINATION -o STORE [--at TIME | --commit N] [--replace] [--store ID] [--lineage ID]
               heartwood restore DESTINATION -o STORE --follow [--interval SECONDS] [--store ID] [--lineage ID]

          --at TIME          the state after the last commit at or before a time: ISO 8601, as 2026-11-21T12:00:00Z, or seconds since 1970.
                             A day alone, 2026-11-21, is its end by UTC
          --commit N         the state after the commit of this number
          --replace          replaces the file STORE, at the end and whole
          --store ID         the store, where the backup is of several
          --lineage ID       the line of commits, where there are several; the one with the newest commit if not given
          --follow           keeps STORE a replica until SIGINT or SIGTERM; other processes read it and see each new commit
          --interval SECONDS the time between two looks at the backup; 1 if not given

        Checks every checksum and the chain of commits. If the state that is asked for cannot be had, because files of the backup are damaged
        or gone, nothing is restored, and the error names the newest earlier commit that can be restored. An interrupted restore leaves STORE as it
        was, and is taken up by the next one.
        The restored store has its old identity and begins a line of commits of its own, so a backup of it may go to the same
        destination. Writing to a replica is refused; `heartwood promote` makes a store of it.
        """
    static let options: Set<String> = ["output", "at", "commit", "store", "lineage", "interval"]
    static let flags: Set<String> = ["replace", "follow"]
    static let adviceForDatabases: String? = "the server's own tools restore it: pg_restore, or psql"

    private let destination: DirectoryDestination
    private let output: String
    private let point: StoreRestore.Point
    private let storeID: StoredUUID?
    private let lineage: StoredUUID?
    private let replaces: Bool
    private let follows: Bool
    private let interval: Duration

    init(_ arguments: Arguments) throws {
        destination = try BackupText.destination(try arguments.exactly(["DESTINATION"])[0])
        output = try arguments.required("output")
        point = switch (arguments["at"], arguments["commit"]) {
        case (nil, nil): .newest
        case (let time?, nil): .time(try TimeArgument.microseconds("at", time, day: .end))
        case (nil, _?): .commit(UInt64(try arguments.integer("commit", default: 0, from: 1)))
        case (_?, _?): throw ToolError.usage("--at and --commit exclude each other")
        }
        storeID = try BackupText.identity("store", arguments["store"])
        lineage = try BackupText.identity("lineage", arguments["lineage"])
        replaces = arguments.has("replace")
        follows = arguments.has("follow")
        interval = try BackupText.seconds("interval", arguments["interval"], default: 1)
        guard !follows || point == .newest && !replaces else { throw ToolError.usage("--follow excludes --at, --commit and --replace") }
        guard follows || arguments["interval"] == nil else { throw ToolError.usage("--interval needs --follow") }
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
