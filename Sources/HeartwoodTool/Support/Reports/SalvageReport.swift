import Foundation
import RecordLog

/// The output of `salvage`.
enum SalvageReport {
    /// The most lines of each kind before the report only counts the rest.
    private static let linesMax = 20

    static func lines(_ report: StoreSalvage) -> [String] {
        var lines = ["\(Output.count(report.rows, "row")) brought out to \(report.newPath)", ""]
        lines.append(row("TABLE", ["KEPT", "LOST", "UNKNOWN", "OLDER", "UNREADABLE"]))
        for table in report.tables.sorted(by: { $0.name < $1.name }) {
            lines.append(row(
                table.name, [table.kept, table.lost, table.unaccounted, table.older, table.malformed].map { $0 == 0 ? "-" : Output.number($0) }))
        }
        let losses = losses(report), damage = report.damage.map { "damaged: bytes \($0.offset) to \($0.end), \($0.what)" }
        if !damage.isEmpty || !losses.isEmpty || report.tail != .clean { lines.append("") }
        lines += limited(damage, report.damageCount) + losses
        switch report.tail {
        case .clean: break
        case .unfinished: lines.append("torn: an unfinished write follows the last commit; it was never acknowledged, and is left out")
        case .uncertain:
            lines.append(
                "in doubt: the commit behind the last whole one may have been acknowledged; it cannot be read whole, and is left out")
        }
        lines += ["", conclusion(report)]
        return lines
    }

    private static func conclusion(_ report: StoreSalvage) -> String {
        guard report.isComplete else { return "incomplete: the losses are listed above" }
        return report.damage.isEmpty
            ? "complete: everything that was acknowledged is in the new store" : "complete: no row is known to be lost by the damage"
    }

    /// The losses, kind by kind.
    private static func losses(_ report: StoreSalvage) -> [String] {
        var lines = limited(
            report.missingCommits.map {
                $0.lowerBound == $0.upperBound ? "missing: commit \($0.lowerBound)" : "missing: commits \($0.lowerBound) to \($0.upperBound)"
            }, report.missingCommitRangeCount)
        lines += limited(
            report.incompleteCommits.map { commit in
                let total = commit.rowsStated.map { " of \(Output.number($0))" } ?? ""
                let rows = total.isEmpty ? Output.count(commit.rowsFound, "row") : "\(Output.number(commit.rowsFound))\(total) rows"
                return "incomplete: commit \(commit.sequence), \(rows) found, "
                    + (commit.isTaken ? "taken" : "left out")
            }, report.incompleteCommitCount)
        func note(_ count: Int, _ one: String, _ several: String) {
            if count > 0 { lines.append(Output.count(count, one, several)) }
        }
        note(report.tables.reduce(0) { $0 + $1.fromIncompleteCommits }, "row kept is of an incomplete commit", "rows kept are of incomplete commits")
        note(report.tables.reduce(0) { $0 + $1.lost }, "row is lost", "rows are lost")
        note(report.tables.reduce(0) { $0 + $1.unaccounted }, "row number has no record left: its row is lost, or had been deleted",
            "row numbers have no record left: rows that are lost, or had been deleted")
        note(report.tables.reduce(0) { $0 + $1.older }, "row has an older version", "rows have an older version")
        note(report.tables.reduce(0) { $0 + $1.malformed }, "row does not fit its layout, and is lost", "rows do not fit their layout, and are lost")
        note(
            report.tables.reduce(0) { $0 + $1.valuesLost },
            "large value lacks a part, or does not fit its column; it is null in its row:",
            "large values lack a part, or do not fit their columns; they are null in their rows:")
        let names = Dictionary(report.tables.map { ($0.id, $0.name) }, uniquingKeysWith: { $1 })
        lines += limited(
            report.lostValues.map { lost in
                "  \(names[lost.reference.table.rawValue] ?? "?") row \(lost.reference.row), \(lost.column), \(Output.bytes(lost.bytes))"
            }, report.tables.reduce(0) { $0 + $1.valuesLost })
        note(report.deletionsByIndex, "row is left out: an index shows that it had been deleted",
            "rows are left out: an index shows that they had been deleted")
        note(report.rowsWithoutTable, "row is of a table that no readable catalog has, and is lost",
            "rows are of a table that no readable catalog has, and are lost")
        note(report.malformedRecords, "record is malformed, though its checksum holds", "records are malformed, though their checksums hold")
        note(report.systemValuesOlder, "of the store's own values (its tables, model, metadata) has an older version",
            "of the store's own values (its tables, model, metadata) have an older version")
        note(report.systemValuesLost, "of the store's own values (its tables, model, metadata) is lost",
            "of the store's own values (its tables, model, metadata) are lost")
        return lines
    }

    private static func limited(_ lines: [String], _ count: Int) -> [String] {
        count <= linesMax ? lines : lines.prefix(linesMax) + ["… and \(Output.number(count - linesMax)) more of this kind"]
    }

    private static func row(_ name: String, _ columns: [String]) -> String {
        DisplayWidth.padded(name, to: 44)
            + columns.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
    }

    static func json(_ report: StoreSalvage) throws -> String {
        let value: [String: Any] = [
            "path": report.path, "newPath": report.newPath, "identity": report.storeID.uuidString,
            "isComplete": report.isComplete, "rows": report.rows, "fileBytes": report.fileBytes, "newFileBytes": report.newFileBytes,
            "wholeCommits": report.wholeCommits, "newestCommit": report.newestCommit, "tail": report.tail.rawValue,
            "tables": report.tables.map {
                ["name": $0.name, "kept": $0.kept, "fromIncompleteCommits": $0.fromIncompleteCommits, "lost": $0.lost,
                 "unaccounted": $0.unaccounted, "older": $0.older, "malformed": $0.malformed, "valuesLost": $0.valuesLost] as [String: Any]
            },
            "systemValues": report.systemValues, "systemValuesOlder": report.systemValuesOlder, "systemValuesLost": report.systemValuesLost,
            "rowsWithoutTable": report.rowsWithoutTable, "malformedRecords": report.malformedRecords,
            "deletionsByIndex": report.deletionsByIndex, "damagedBytes": report.damagedBytes, "damageCount": report.damageCount,
            "damage": report.damage.map { ["offset": $0.offset, "end": $0.end, "what": $0.what] as [String: Any] },
            "missingCommitRangeCount": report.missingCommitRangeCount,
            "missingCommits": report.missingCommits.map { ["first": $0.lowerBound, "last": $0.upperBound] },
            "incompleteCommitCount": report.incompleteCommitCount,
            "incompleteCommits": report.incompleteCommits.map {
                [
                    "sequence": $0.sequence, "rowsStated": $0.rowsStated ?? NSNull(), "rowsFound": $0.rowsFound, "isTaken": $0.isTaken,
                ] as [String: Any]
            },
            "lostValues": report.lostValues.map {
                ["table": $0.reference.table.rawValue, "row": $0.reference.row, "column": $0.column, "bytes": $0.bytes] as [String: Any]
            },
            "lostRows": report.lostRows.map { ["table": $0.table.rawValue, "row": $0.row] as [String: Any] },
        ]
        return try InspectionReport.encode(value)
    }
}
