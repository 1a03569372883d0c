import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite
import RecordLog

/// The outcome of a verification of a store of any kind, in the lines that `verify` prints.
struct StoreCheck {
    enum Verdict: String {
        case sound
        case guessed = "undamaged, with guessed references"
        case damaged
    }

    private(set) var lines: [String] = []
    /// The numbers of what the check has read of a store without damage. The last line has them too.
    private(set) var counts = ""
    private(set) var verdict = Verdict.damaged

    var exitCode: Int32 {
        switch verdict {
        case .sound: 0
        case .guessed: ReferenceDoubts.exitCode
        case .damaged: 1
        }
    }

    var paint: Paint {
        switch verdict {
        case .sound: .good
        case .guessed: .changed
        case .damaged: .bad
        }
    }

    /// Verifies a record log, or a Core Data store.
    /// - Complexity: reads the whole file.
    init(path: String, modelFile: String?, usesMemoryMapping: Bool = true) throws {
        if CoreDataStore.isOne(path) {
            try verifyDatabase(path, modelFile)
        } else {
            try verifyLog(path, usesMemoryMapping)
        }
    }

    /// Verifies a store in a PostgreSQL database.
    init(server: String, _ progress: @escaping (_ done: UInt64, _ total: UInt64) -> Void) throws {
        let report = try DatabaseStore.transfer(server).examine { progress(UInt64($0), UInt64(max($0, $1))) }
        for findings in [report.schema, report.unreadable, report.unnamed, report.unfit, report.doubts] {
            add(findings.lines.map { "corrupt: \($0)" }, of: findings.count)
        }
        guard report.isSound else {
            lines.append(
                "remedy: correct the rows with the program that wrote them, or restore them from a backup of the server; `heartwood model STORE --sql` "
                    + "prints the statements that make missing tables, indexes and references")
            return
        }
        conclude([], "\(Output.count(report.objects, "row")), \(Output.count(report.pairs, "pair")) of relationships")
    }

    private mutating func add(_ shown: [String], of count: Int) {
        lines += shown
        if count > shown.count { lines.append("… and \(Output.count(count - shown.count, "more problem"))") }
    }

    private mutating func conclude(_ doubts: [String], _ counts: String) {
        verdict = doubts.isEmpty ? .sound : .guessed
        self.counts = counts
        lines += ReferenceDoubts.lines(doubts)
        lines.append("\(verdict.rawValue): \(counts)")
    }

    // MARK: Record logs

    private mutating func verifyLog(_ path: String, _ usesMemoryMapping: Bool) throws {
        var report = try StoreVerification.verify(
            path: path, usesMemoryMapping: usesMemoryMapping, makeExtractor: StoredModel.options.makeExtractor)
        if report.isReadable { try StoreAudit.run(path: path, usesMemoryMapping: usesMemoryMapping) { report.add($0) } }
        add(report.problems.map { "corrupt: \($0.message)\($0.offset.map { " (byte \($0))" } ?? "")" }, of: report.problemCount)
        switch report.tail {
        case .clean: break
        case .inProgress: lines.append("a writer is at work: the bytes behind the newest commit were not checked")
        case .torn: lines.append("torn: bytes of an unfinished write follow the last commit; opening the store for writing removes them")
        case .corrupt(let offset, let evidence): lines.append("corrupt: \(evidence) (byte \(offset))")
        case .inDoubt(let offset, let path, let state): lines.append("in doubt: \(InspectionReport.inDoubt(path, state)) (byte \(offset))")
        }
        for remedy in [StoreVerification.Problem.Remedy.restore, .rebuild, .correct]
        where report.problems.contains(where: { $0.remedy == remedy }) {
            lines.append("remedy: \(Self.text(of: remedy))")
        }
        guard report.isSound else { return }
        conclude(
            try StoredModel.doubts(at: URL(fileURLWithPath: path), usesMemoryMapping: usesMemoryMapping),
            "\(Output.count(report.frames, "frame")), \(Output.count(Int(report.rows), "row")), "
                + Output.count(Int(report.indexEntries), "index entry", "index entries")
                + (report.values == 0 ? "" : ", \(Output.count(Int(report.values), "large value"))"))
    }

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

    // MARK: Core Data stores

    private mutating func verifyDatabase(_ path: String, _ modelFile: String?) throws {
        let report = try CoreDataAudit.run(path: path, given: try modelFile.map(CoreDataStore.file))
        add(report.findings.map { "corrupt: \($0.line)" }, of: report.findingCount)
        if report.openFrames > 0 {
            let frames = Output.count(report.openFrames, "frame")
            lines.append("unfinished: \(frames) behind the log's last commit, of a writer that is at work or ended early; SQLite ignores them")
        }
        lines += report.limits.map { "note: \($0)" }
        guard report.isSound else {
            lines.append(
                "remedy: correct the values with the program that wrote them, or restore a backup; SQLite's `REINDEX` makes indexes anew, and its "
                    + "`.recover` copies the undamaged parts of a damaged file")
            return
        }
        conclude(
            report.doubts,
            "\(Output.count(report.pages, "page")), \(Output.count(report.trees, "tree")), \(Output.count(report.rows, "row")), "
                + Output.count(report.indexEntries, "index entry", "index entries")
                + (report.logCommits == 0 ? "" : ", \(Output.count(report.logCommits, "commit")) of the log"))
    }
}
