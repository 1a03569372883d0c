import Foundation
import Heartwood
import HeartwoodSQLite

/// The output of `inspect` for a store of Core Data's.
struct CoreDataReport {
    private let report: CoreDataInspection

    init(_ report: CoreDataInspection) { self.report = report }

    /// A line of the head, with the lines below it that belong to it.
    struct Fact {
        let name: String
        let lines: [String]

        init(_ name: String, _ lines: [String]) { (self.name, self.lines) = (name, lines) }
        init(_ name: String, _ text: String) { self.init(name, [text]) }
    }

    var lines: [String] {
        facts.flatMap { fact in
            fact.lines.enumerated().map { DisplayWidth.padded($0 == 0 ? fact.name : "", to: 12) + $1 }
        } + entityLines + tableLines + indexLines
    }

    var facts: [Fact] {
        let database = report.database
        return [
            Fact("store", report.path), Fact("identity", report.identifier),
            Fact("kind", "Core Data store (\(report.storeType)), framework version \(report.frameworkVersion.map { "\($0)" } ?? "unknown")"),
            Fact(
                "database",
                "written by SQLite \(Self.version(database.sqliteVersion)), \(database.encoding), auto-vacuum \(database.autoVacuum)"),
            Fact("file", "\(Output.bytes(database.fileBytes)); \(pages)"),
        ] + (logLines.isEmpty ? [] : [Fact("log", logLines)]) + [
            Fact("model", modelLines),
            Fact("structure", database.faults == 0 ? "sound" : "\(Output.count(database.faults, "fault")) (`heartwood verify` lists them)"),
            Fact("history", history),
        ] + (report.external.map { [Fact("external", externalLines($0))] } ?? []) + [Fact("conversion", conversionLines)]
    }

    private static func version(_ number: UInt32) -> String {
        number == 0 ? "of an unknown version" : "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    /// Rows of names and numbers under their heading, with an empty line before.
    private static func table(_ rows: [[String]]) -> [String] {
        let width = rows.map { DisplayWidth.of($0[0]) }.max() ?? 0
        return [""] + rows.map { row in
            DisplayWidth.padded(row[0], to: max(44, width))
                + row.dropFirst().map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
        }
    }

    // MARK: The head

    private var pages: String {
        let database = report.database
        var parts = ["\(Output.count(database.pages, "page")) of \(Output.bytes(UInt64(database.pageSize)))"]
        if database.freePages > 0 { parts.append("\(Output.number(database.freePages)) free") }
        if database.pointerMapPages > 0 { parts.append("\(Output.number(database.pointerMapPages)) with pointers") }
        if database.unusedPages > 0 { parts.append("\(Output.number(database.unusedPages)) used by nothing") }
        if database.isRolledBack { parts.append("with an unfinished transaction rolled back") }
        return parts.joined(separator: ", ")
    }

    private var logLines: [String] {
        guard let log = report.log else {
            guard report.database.usesLog else { return ["none"] }
            let name = URL(fileURLWithPath: report.path).lastPathComponent
            return [
                "none; SQLite keeps one while an app has the file open. If the file was copied then, its newest commits are in",
                "\(name)-wal, which must be copied together with it",
            ]
        }
        guard log.bytes > 0 else { return ["empty"] }
        guard log.isValid else { return ["\(Output.bytes(log.bytes)), which SQLite ignores: it does not begin as a log does"] }
        let salts = log.salts.map { String(format: "%08x", $0) }.joined(separator: " ")
        let state = log.frames == 0 ? "" : log.isCheckpointed ? "; the file has all of them already" : "; the file does not have all of them yet"
        var lines = [
            "\(Output.bytes(log.bytes)): \(Output.count(log.commits, "commit")) in \(Output.count(log.frames, "frame")), "
                + "\(Output.count(log.pages, "page"))\(state); salts \(salts)",
        ]
        func add(_ text: String) { lines.append(text) }
        if log.openFrames > 0 { add("\(Output.count(log.openFrames, "frame")) of an unfinished transaction behind the last commit") }
        if let frame = log.wrongFrame {
            add("the checksum of frame \(frame) does not hold; from there on \(Output.count(log.ignoredFrames, "frame is", "frames are")) ignored")
        } else if log.ignoredFrames > 0 {
            add("\(Output.count(log.ignoredFrames, "frame")) left from before the log began anew")
        }
        return lines
    }

    private var modelLines: [String] {
        let names = report.modelIdentifiers.isEmpty ? "" : ", version \(report.modelIdentifiers.joined(separator: ", "))"
        let remarks = (report.guessReason.map { [$0] } ?? []) + report.warnings
        return ["from \(report.modelOrigin)\(names)"] + remarks
    }

    private var history: String {
        guard let history = report.history else { return "none" }
        let counts = "\(Output.count(history.transactions, "transaction")), \(Output.count(history.changes, "change"))"
        guard let oldest = history.oldest, let newest = history.newest else { return counts }
        return "\(counts): from number \(oldest.number)\(Self.time(oldest.date)) to number \(newest.number)\(Self.time(newest.date))"
    }

    private static func time(_ date: Date?) -> String {
        date.map { " of \($0.formatted(Date.ISO8601FormatStyle()))" } ?? ""
    }

    private func externalLines(_ external: CoreDataInspection.External) -> [String] {
        guard external.fileValues + external.inlineValues + external.untagged + external.unnamed > 0 else { return ["none"] }
        var lines = [
            "\(Output.count(external.fileValues, "value")) in files of \(Output.bytes(external.fileBytes)), "
                + "\(Output.count(external.inlineValues, "value")) of \(Output.bytes(external.inlineBytes)) in the database",
        ]
        if !external.missing.isEmpty {
            let shown = external.missing.prefix(3).joined(separator: ", "), rest = external.missing.count > 3 ? ", …" : ""
            let files = Output.count(external.missing.count, "file is", "files are")
            lines.append("\(files) missing in \(external.directory): \(shown)\(rest)")
        }
        func add(_ text: String) { lines.append(text) }
        if external.untagged > 0 { add("\(Output.count(external.untagged, "value")) without the tag that says where it is") }
        if external.unnamed > 0 { add("\(Output.count(external.unnamed, "file")) that no value names") }
        return lines
    }

    // MARK: Conversion

    private var conversionLines: [String] {
        if let misfit = report.misfit { return ["not possible: \(misfit)"] }
        let objects = report.entities.reduce(0) { $0 + $1.objects }
        var lines = [
            "\(Output.count(objects, "object")) of \(Output.count(report.entities.count, "entity", "entities")); "
                + "`heartwood convert --dry-run` reads each of them",
        ]
        lines += losses.map { "lost: \($0)" }
        lines += report.guesses.map { "guessed: \($0)" }
        return lines + report.doubts.map { "not sure: \($0)" }
    }

    /// The parts that a conversion leaves out.
    var losses: [String] {
        var losses: [String] = []
        if report.history != nil { losses.append("the history, without --with-history") }
        losses += report.strays.sorted { $0.key < $1.key }.map { "\(Output.count($1, "row")) of \($0) without an entity of the table" }
        losses += report.differences
        if let missing = report.external?.missing.count, missing > 0 { losses.append("the values of \(Output.count(missing, "missing file"))") }
        if report.views > 0 { losses.append(Output.count(report.views, "view")) }
        if report.triggers > 0 { losses.append("\(Output.count(report.triggers, "trigger")); values that they derived stay") }
        if !report.virtualTables.isEmpty { losses.append("virtual tables: \(report.virtualTables.joined(separator: ", "))") }
        return losses
    }

    // MARK: Tables

    private var entityLines: [String] {
        let tables = Dictionary(report.tables.map { ($0.name, $0) }) { first, _ in first }
        let parents = Dictionary(report.entities.map { ($0.name, $0.parent) }) { first, _ in first }
        func depth(_ entity: CoreDataInspection.Entity) -> Int {
            var depth = 0, next = entity.parent
            while let name = next, depth < 20 { (depth, next) = (depth + 1, parents[name] ?? nil) }
            return depth
        }
        return Self.table([["ENTITY", "OBJECTS", "BYTES", "INDEXES"]] + report.entities.map { entity in
            let name = String(repeating: "  ", count: depth(entity)) + entity.name + (entity.isAbstract ? " (abstract)" : "")
            let table = entity.parent == nil ? tables[entity.table] : nil
            return [
                name, Output.number(entity.objects), table.map { Output.bytes($0.bytes) } ?? "-", table.map { Output.bytes($0.indexBytes) } ?? "-",
            ]
        })
    }

    private var tableLines: [String] {
        let others = report.tables.filter { $0.kind != .entity }.sorted { ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name) }
        return Self.table([["OTHER TABLE", "ROWS", "BYTES", "INDEXES"]] + others.map { table in
            [table.name, Output.number(table.rows), Output.bytes(table.bytes), Output.bytes(table.indexBytes)]
        })
    }

    private var indexLines: [String] {
        guard !report.indexes.isEmpty else { return [] }
        return Self.table(
            [["INDEX", "ENTRIES", "BYTES"]]
                + report.indexes.map { ["\($0.table) \($0.name)", Output.number($0.entries), Output.bytes($0.bytes)] })
    }
}
