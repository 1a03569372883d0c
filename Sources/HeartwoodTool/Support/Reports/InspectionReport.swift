import Foundation
import RecordLog

/// The output of `inspect`.
enum InspectionReport {
    /// - Parameter doubts: about references of the store's model.
    static func lines(_ report: StoreInspection, _ doubts: [String]) -> [String] {
        var lines = [
            "store       \(report.path)",
            "identity    \(report.storeID.uuidString)",
            "format      version \(report.formatVersion), segments of \(Output.bytes(report.segmentSize))",
            "file        \(Output.bytes(report.fileBytes)), of which log \(Output.bytes(report.logBytes))",
            "live        \(Output.bytes(report.liveBytes)) rows and values, \(Output.bytes(report.indexBytes)) indexes",
            "dead        \(Output.bytes(report.deadBytes)) (`heartwood compact` frees it)",
            "commits     \(Output.number(report.commits)), the newest number \(report.sequence)"
                + (report.newestCommitOffset.map { " at byte \($0)" } ?? ""),
            "checkpoints \(Output.number(report.checkpoints))",
            "tail        \(tail(report.tail))",
        ] + ReferenceDoubts.lines(doubts) + [
            "",
            row("TABLE", "ROWS", "BYTES", "A ROW"),
        ]
        for table in report.tables.sorted(by: { $0.name < $1.name }) {
            lines.append(row(
                table.name, Output.number(table.rows), Output.bytes(table.liveBytes),
                table.rows == 0 ? "-" : Output.bytes(table.liveBytes / UInt64(table.rows))))
        }
        let values = report.tables.compactMap { table in table.values.map { (table, $0) } }.filter { $1.count > 0 }
        if !values.isEmpty { lines += ["", row("LARGE VALUES OF", "VALUES", "BYTES", "A VALUE")] }
        for (table, found) in values {
            lines.append(row(
                table.name, Output.number(found.count), Output.bytes(found.bytes), Output.bytes(found.bytes / UInt64(found.count))))
        }
        let defaults = report.tables.filter { !$0.defaults.isEmpty }
        if !defaults.isEmpty { lines += ["", "DEFAULTS OF OLDER ROWS"] }
        for table in defaults { lines.append("\(table.name): \(table.defaults.joined(separator: ", "))") }
        lines += ["", row("INDEX", "ENTRIES", "BYTES", "RUNS")]
        for index in report.indexes {
            lines.append(row(
                "\(index.table) \(index.name)", Output.number(Int(index.entries)), Output.bytes(index.bytes), "\(index.runs)"))
        }
        return lines
    }

    private static func row(_ name: String, _ columns: String...) -> String {
        DisplayWidth.padded(name, to: 44)
            + columns.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
    }

    private static func tail(_ tail: StoreInspection.Tail) -> String {
        switch tail {
        case .clean: "clean"
        case .torn: "torn: an unfinished write follows the newest commit; opening for writing removes it"
        case .inProgress: "a writer is at work behind the newest commit"
        case .corrupt(let offset, let evidence): "corrupt at byte \(offset): \(evidence)"
        case .inDoubt(let offset, let path, let state): "in doubt, at byte \(offset): \(inDoubt(path, state))"
        }
    }

    /// Describes what happens to a part of a save over several stores.
    static func inDoubt(_ path: String, _ state: InDoubtCommit.State) -> String {
        let part = "the newest commit is a part of a save over several stores that a crash has interrupted. The store at \(path) decides "
            + "about it"
        return switch state {
        case .committed: part + " and has decided for it: it is shown, and opening for writing completes it"
        case .aborted: part + " and has not decided for it: opening for writing removes it"
        case .undecided:
            part + " and cannot be read: nothing can be written until that file is back at its path, or beside this one. If it is "
                + "lost for good, heartwood salvage makes a store without this commit"
        }
    }

    static func json(_ report: StoreInspection, _ doubts: [String]) throws -> String {
        try encode([
            "path": report.path, "identity": report.storeID.uuidString, "formatVersion": Int(report.formatVersion),
            "fileBytes": report.fileBytes, "logBytes": report.logBytes, "liveBytes": report.liveBytes, "indexBytes": report.indexBytes,
            "deadBytes": report.deadBytes, "commits": report.commits, "sequence": report.sequence,
            "newestCommitOffset": report.newestCommitOffset.map { $0 as Any } ?? NSNull(), "checkpoints": report.checkpoints,
            "tail": tail(report.tail), "doubts": doubts,
            "tables": report.tables.map { table in
                ["name": table.name, "rows": table.rows, "liveBytes": table.liveBytes, "columns": table.columns, "defaults": table.defaults,
                 "values": table.values.map { $0.count as Any } ?? NSNull(),
                 "valueBytes": table.values.map { $0.bytes as Any } ?? NSNull()] as [String: Any]
            },
            "indexes": report.indexes.map {
                [
                    "table": $0.table, "name": $0.name, "columns": $0.columns, "entries": $0.entries, "bytes": $0.bytes, "runs": $0.runs,
                ] as [String: Any]
            },
        ])
    }

    static func encode(_ value: [String: Any]) throws -> String {
        String(
            decoding: try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]),
            as: UTF8.self)
    }

    // MARK: Commits

    private static func date(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds) / 1_000_000).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    static func lines(_ commit: StoreInspection.Commit, _ catalog: Catalog) -> [String] {
        var lines = [
            "commit      \(commit.sequence)", "at byte     \(commit.offset), \(Output.bytes(commit.byteCount))",
            "time        \(date(commit.timestamp))", "author      \(commit.author ?? "-")", "rows        \(Output.number(commit.rows))",
        ]
        for (table, changes) in grouped(commit, catalog) {
            let deletions = changes.filter(\.isDeletion).count
            lines.append("  \(table): \(changes.count - deletions) written, \(deletions) deleted")
        }
        return lines
    }

    static func json(_ commit: StoreInspection.Commit, _ catalog: Catalog) throws -> String {
        try encode([
            "sequence": commit.sequence, "offset": commit.offset, "bytes": commit.byteCount, "time": date(commit.timestamp),
            "author": commit.author ?? NSNull(), "rows": commit.rows,
            "changes": grouped(commit, catalog).map { table, changes in
                ["table": table, "rows": changes.map { ["row": $0.reference.row, "deleted": $0.isDeletion] as [String: Any] }] as [String: Any]
            },
        ])
    }

    private static func grouped(
        _ commit: StoreInspection.Commit, _ catalog: Catalog
    ) -> [(String, [(reference: RowReference, isDeletion: Bool)])] {
        Dictionary(grouping: commit.changes) { $0.reference.table }.sorted { $0.key < $1.key }.map { table, changes in
            (catalog.table(table)?.name ?? "(system)", changes)
        }
    }
}
