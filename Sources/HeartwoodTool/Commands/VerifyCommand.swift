import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite
import RecordLog

struct VerifyCommand: Command {
    static let name = "verify"
    static let summary = "check every checksum, the chain of commits, the indexes and the rows"
    static let help = """
        USAGE: heartwood verify STORE [--no-mmap] [--model M]

        Reads the whole store and writes nothing. Exit code: 0 sound; 1 damaged, with where and whether it is a torn tail (a
        crash's unfinished end, which the next opening for writing cuts off), a part of a save over several stores that waits
        for the store that decides about it, or corruption; 2 not a store; 3 undamaged, but references are guessed and not sure, as a
        Core Data store without a model has them, and a store that was converted from it.

        It finds checksums that do not hold, commits that do not follow each other, indexes that disagree with the rows, rows
        whose bytes no writer writes (texts that are no UTF-8, nulls with bytes), large values that lack a part; and by the model
        that the store carries derived attributes that are not what their derivation gives, relationships to objects that do not
        exist or do not refer back, and values that are to be unique and are not. It cannot find a wrong value that
        nothing else in the store contradicts.

        Of a Core Data store (.sqlite) it checks each page of tables, indexes and free lists, the checksums of the write-ahead log, that
        index entries and rows agree, values by the types of their attributes, references, inverses and order keys, unique values, entity
        numbers, keys, and the history. A finding names table, row and column.

        A store in a PostgreSQL database is copied into the folder for temporary files, as of one moment, and checked there. Also: tables,
        columns, keys, unique indexes and references that the model needs, numbers of entities, and numbers that a sequence would give twice.

          --no-mmap      read the file in place of mapping it, which takes memory for all of it: for network and removable media,
                         and disks with sectors that cannot be read
        \(CoreDataStore.help)
        """
    static let options: Set<String> = [CoreDataStore.option]
    static let flags: Set<String> = ["no-mmap"]

    private let store: String
    private let usesMemoryMapping: Bool
    private let modelFile: String?

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
        usesMemoryMapping = !arguments.has("no-mmap")
        modelFile = arguments[CoreDataStore.option]
    }

    func run() throws -> Int32 {
        if DatabaseStore.isOne(store) { return try verifyServer() }
        if CoreDataStore.isOne(store) { return try verifyDatabase() }
        var report = try StoreVerification.verify(
            path: store, usesMemoryMapping: usesMemoryMapping, makeExtractor: StoredModel.options.makeExtractor)
        if report.isReadable { try StoreAudit.run(path: store, usesMemoryMapping: usesMemoryMapping) { report.add($0) } }
        for problem in report.problems {
            Output.line("corrupt: \(problem.message)\(problem.offset.map { " (byte \($0))" } ?? "")")
        }
        if report.problemCount > report.problems.count {
            Output.line("… and \(Output.number(report.problemCount - report.problems.count)) more problems")
        }
        switch report.tail {
        case .clean: break
        case .inProgress: Output.line("a writer is at work: the bytes behind the newest commit were not checked")
        case .torn: Output.line("torn: bytes of an unfinished write follow the last commit; opening the store for writing removes them")
        case .corrupt(let offset, let evidence): Output.line("corrupt: \(evidence) (byte \(offset))")
        case .inDoubt(let offset, let path, let state): Output.line("in doubt: \(InspectionReport.inDoubt(path, state)) (byte \(offset))")
        }
        for remedy in [StoreVerification.Problem.Remedy.restore, .rebuild, .correct]
        where report.problems.contains(where: { $0.remedy == remedy }) {
            Output.line("remedy: \(Self.text(of: remedy))")
        }
        guard report.isSound else { return 1 }
        let doubts = try StoredModel.doubts(at: URL(fileURLWithPath: store), usesMemoryMapping: usesMemoryMapping)
        ReferenceDoubts.tell(doubts)
        Output.line(
            "\(verdict(doubts)): \(Output.count(report.frames, "frame")), \(Output.count(Int(report.rows), "row")), "
                + Output.count(Int(report.indexEntries), "index entry", "index entries")
                + (report.values == 0 ? "" : ", \(Output.count(Int(report.values), "large value"))"))
        return ReferenceDoubts.code(doubts)
    }

    private func verifyServer() throws -> Int32 {
        let bar = ProgressBar("reading")
        defer { bar.finish() }
        let report = try DatabaseStore.transfer(store).examine { bar.update(UInt64($0), of: UInt64(max($0, $1))) }
        bar.finish()
        for findings in [report.schema, report.unreadable, report.unnamed, report.unfit, report.doubts] {
            for line in findings.lines { Output.line("corrupt: \(line)") }
            if findings.count > findings.lines.count {
                Output.line("… and \(Output.count(findings.count - findings.lines.count, "more problem"))")
            }
        }
        guard report.isSound else {
            Output.line(
                "remedy: correct the rows with the program that wrote them, or restore them from a backup of the server; `heartwood model STORE --sql` "
                    + "prints the statements that make missing tables, indexes and references")
            return 1
        }
        Output.line("sound: \(Output.count(report.objects, "row")), \(Output.count(report.pairs, "pair")) of relationships")
        return 0
    }

    private func verifyDatabase() throws -> Int32 {
        let report = try CoreDataAudit.run(path: store, given: try modelFile.map(CoreDataStore.file))
        for finding in report.findings { Output.line("corrupt: \(finding.line)") }
        if report.findingCount > report.findings.count {
            Output.line("… and \(Output.count(report.findingCount - report.findings.count, "more problem"))")
        }
        if report.openFrames > 0 {
            let frames = Output.count(report.openFrames, "frame")
            Output.line("unfinished: \(frames) behind the log's last commit, of a writer that is at work or ended early; SQLite ignores them")
        }
        for limit in report.limits { Output.line("note: \(limit)") }
        guard report.isSound else {
            Output.line(
                "remedy: correct the values with the program that wrote them, or restore a backup; SQLite's `REINDEX` makes indexes anew, and its "
                    + "`.recover` copies the undamaged parts of a damaged file")
            return 1
        }
        ReferenceDoubts.tell(report.doubts)
        Output.line(
            "\(verdict(report.doubts)): \(Output.count(report.pages, "page")), \(Output.count(report.trees, "tree")), "
                + "\(Output.count(report.rows, "row")), " + Output.count(report.indexEntries, "index entry", "index entries")
                + (report.logCommits == 0 ? "" : ", \(Output.count(report.logCommits, "commit")) of the log"))
        return ReferenceDoubts.code(report.doubts)
    }

    private func verdict(_ doubts: [String]) -> String { doubts.isEmpty ? "sound" : "undamaged, with guessed references" }

    private static func text(of remedy: StoreVerification.Problem.Remedy) -> String {
        switch remedy {
        case .restore: "restore a backup, or copy the undamaged parts to a new store with `heartwood salvage`"
        case .rebuild: "`heartwood compact` makes the indexes anew from the rows"
        case .correct:
            "the checksums hold, so a program has written this: set the properties anew or delete the objects, and save (derived attributes "
                + "follow a change of what they are derived from), or restore a backup; `heartwood salvage` copies the well-formed rows to a "
                + "new store"
        }
    }
}
