import Foundation
import Heartwood
import HeartwoodPostgreSQL

/// The output of `inspect` for a store in a PostgreSQL database.
struct DatabaseReport {
    private let report: DatabaseInspection

    init(_ report: DatabaseInspection) { self.report = report }

    var lines: [String] {
        var lines = [
            "store       \(report.location)",
            "identity    \(report.identifier)",
            "server      \(report.server), with \(report.abilities.joined(separator: ", "))",
            "history     " + (report.transactions.map { Output.count($0, "transaction") } ?? "none"),
        ]
        if let configuration = report.configuration { lines.append("made with   the configuration \(configuration)") }
        if report.unnamed > 0 { lines.append("unnamed     \(Output.count(report.unnamed, "row")) of no entity (`heartwood verify` lists them)") }
        lines += ["", Self.row("ENTITY", "OBJECTS")] + report.entities.map { Self.row($0.name, Output.number($0.objects)) }
        lines += ["", Self.row("TABLE", "ROWS", "BYTES", "INDEXES")]
        return lines + report.tables.map { table in
            Self.row(table.name, Output.number(table.rows), Output.bytes(table.bytes), Output.bytes(table.indexBytes))
        }
    }

    private static func row(_ name: String, _ columns: String...) -> String {
        DisplayWidth.padded(name, to: 44) + columns.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
    }

    func json() throws -> String {
        let object: [String: Any] = [
            "store": report.location, "schema": report.schema, "identity": report.identifier, "server": report.server,
            "abilities": report.abilities, "configuration": report.configuration ?? NSNull(), "transactions": report.transactions ?? NSNull(),
            "unnamed": report.unnamed, "entities": report.entities.map { ["name": $0.name, "objects": $0.objects] as [String: Any] },
            "tables": report.tables.map { table in
                ["name": table.name, "rows": table.rows, "bytes": table.bytes, "indexBytes": table.indexBytes] as [String: Any]
            },
        ]
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
