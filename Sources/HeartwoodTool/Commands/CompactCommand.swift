import Foundation
import Heartwood
import RecordLog

struct CompactCommand: Command {
    static let name = "compact"

    private static let store = Parameter.argument("STORE", .store, "a store's file").required()
    private static let keepCommits = Parameter.integer(
        "keep-commits", "the newest N commits stay as they are, with number, time, author and changes")
    private static let keepSince = TimeArgument.option(
        "keep-since", day: .beginning, "the same for those since then: ISO 8601, as 2026-11-21T12:00:00Z, or seconds since 1970")
    private static let target = Parameter.text(
        "to", "NEW", .file, "writes the store's newest commit to the file NEW, which must not exist; STORE stays as it is")
    private static let checkpointOnly = Parameter.flag(
        "checkpoint-only",
        """
        copies nothing, and writes the checkpoint that an interrupted load has left out, so that readers open the store quickly again; any \
        program that opens it for writing does the same
        """)

    static let declaration = CommandDeclaration(
        "Writes the live data to a new file that replaces the store's.",
        [
            CommandForm(
                [Self.store], options: [keepCommits, keepSince, Self.target, checkpointOnly],
                rules: [
                    .excludes(checkpointOnly, [Self.target, keepCommits, keepSince]), .excludes(Self.target, [keepCommits, keepSince]),
                    .excludes(keepCommits, [keepSince]),
                ])
        ],
        databases: .refused("the server frees space by itself, and `VACUUM` of psql does it at once"),
        discussion: """
            `--to` is how to copy a store that is in use: a plain copy of the file may miss a commit in the midst of its log. From such a
            copy it makes a store of the commits that are whole in it.

            Copies the live rows, with their indexes, and puts the new file in the old one's place at the end; others read and write
            meanwhile. A crash at any point leaves the old file or the new one, whole. Damaged indexes are made anew from the log.
            Says at the end which processes still have the old file open, and so keep its space, where the system tells.
            """,
        examples: [
            .init("compact app.heartwood --keep-commits 100", "makes the file small, and keeps the newest hundred commits"),
            .init("compact app.heartwood --to copy.heartwood", "copies a store that is in use"),
        ])

    private let store: String
    private let isCheckpointOnly: Bool
    private let window: HistoryWindow
    private let target: String?

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        target = try arguments[Self.target]
        isCheckpointOnly = try arguments[Self.checkpointOnly]
        let commits = try arguments[Self.keepCommits], since = try arguments[Self.keepSince]
        window = commits.map(HistoryWindow.commits) ?? since.map(HistoryWindow.since) ?? .none
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "SQLite's own `VACUUM` makes it small, or \(CoreDataStore.conversion(store))")
        if let target { return try copy(to: target) }
        if isCheckpointOnly { return try writeCheckpoint() }
        let report: CompactionReport
        do {
            report = try compact(rebuildsIndexes: false)
        } catch let error as StoreError where error.code == .corrupt {
            // Probably a damaged page of the primary index. A rebuild reads the whole log and holds its lock for long, so it is not the first try.
            report = try compact(rebuildsIndexes: true)
        }
        Output.line(
            "\(Output.count(Int(report.rows), "row")): \(Output.bytes(report.bytesBefore)) before, \(Output.bytes(report.bytesAfter)) after")
        if report.commits == 0, report.bytesAfter > report.bytesBefore {
            Output.line("it had little or nothing to free; a compacted file has a checkpoint, which shortens openings, and its catalog twice")
        }
        if report.commits > 0 {
            Output.line("\(Output.count(Int(report.commits), "commit")) kept or made meanwhile")
        }
        if let holders = report.holders, !holders.isEmpty {
            Output.line("the old file's space is freed once these close it: \(holders.map(\.description).joined(separator: ", "))")
        }
        return 0
    }

    /// Tells on standard error why the opening was slow, and what ends that.
    static func adviseCheckpoint(of path: String, _ bytes: UInt64) {
        Output.error(
            "heartwood: note: each reader of \(DisplayWidth.printable(path)) replays \(Output.bytes(bytes)) of its log, until a program opens it for "
                + "writing: a load was interrupted, or goes on. `heartwood compact --checkpoint-only` writes the checkpoint that is missing")
    }

    private func writeCheckpoint() throws -> Int32 {
        var options = StoredModel.options
        options.createIfMissing = false
        let log = try LogStore.open(path: store, options: options)
        try log.checkpoint()
        try log.close()
        Output.line("the store has a checkpoint of commit \(Output.number(Int(log.snapshot().sequence)))")
        return 0
    }

    private func copy(to target: String) throws -> Int32 {
        var options = StoredModel.options
        options.isReadOnly = true
        let log = try LogStore.open(path: store, options: options)
        let progress = ProgressBar("copying")
        defer { progress.finish() }
        let rows = try log.copy(to: target, progress: progress.show)
        Output.line("\(Output.count(Int(rows), "row")) as of commit \(Output.number(Int(log.snapshot().sequence))), in \(target)")
        return 0
    }

    private func compact(rebuildsIndexes: Bool) throws -> CompactionReport {
        var options = StoredModel.options
        options.createIfMissing = false
        options.rebuildsIndexes = rebuildsIndexes
        let log = try LogStore.open(path: store, options: options)
        let progress = ProgressBar("compacting")
        defer { progress.finish() }
        let report = try log.compact(keeping: window, progress: progress.show)
        try log.close()
        return report
    }
}
