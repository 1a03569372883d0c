import Foundation
import Heartwood
import HeartwoodSQLite
import RecordLog

/// What the inspection of a Core Data store says, in the words of a report.
enum ReportDatabaseFacts {
    static func facts(_ found: CoreDataInspection) -> [ReportOverview.Fact] {
        // The page shows these elsewhere.
        let skipped = ["store", "kind", "structure", "conversion"]
        return CoreDataReport(found).facts.filter { !skipped.contains($0.name) }.map { fact in
            let name = fact.name == "file" ? "pages" : fact.name
            return ReportOverview.Fact(name: name.prefix(1).uppercased() + name.dropFirst(), text: fact.lines.joined(separator: "\n"))
        }
    }

    static func advice(_ found: CoreDataInspection, _ path: String) -> [ReportOverview.Advice] {
        var advice: [ReportOverview.Advice] = []
        let free = UInt64(found.database.freePages) * UInt64(found.database.pageSize)
        if free > found.database.fileBytes / 4, free > 1 << 20 {
            advice.append(ReportOverview.Advice(
                text: "\(Output.bytes(free)) of the file are free pages. SQLite's VACUUM gives them back.", command: nil))
        }
        if let missing = found.external?.missing, !missing.isEmpty {
            advice.append(ReportOverview.Advice(
                text: "\(Output.count(missing.count, "file of a value is", "files of values are")) missing: copy the folder beside the file, too.",
                command: nil))
        }
        if let misfit = found.misfit { advice.append(ReportOverview.Advice(text: "The tables do not fit the model: \(misfit)", command: nil)) }
        if let reason = found.guessReason {
            advice.append(ReportOverview.Advice(
                text: "The model is guessed: \(reason). With the app's model the page is sure.",
                command: "heartwood report \(ShellWord.quoted(path)) --model App.momd -o page.html"))
        }
        return advice
    }

    static func space(_ found: CoreDataInspection) -> ReportSpace {
        var parts: [ReportSpace.Part] = []
        for table in found.tables {
            let isContent = table.kind == .entity || table.kind == .join
            parts.append(ReportSpace.Part(name: table.name, kind: isContent ? .rows : .other, bytes: table.bytes, count: table.rows))
        }
        for index in found.indexes {
            parts.append(ReportSpace.Part(name: "\(index.table) \(index.name)", kind: .index, bytes: index.bytes, count: index.entries))
        }
        let free = UInt64(found.database.freePages) * UInt64(found.database.pageSize)
        parts.append(ReportSpace.Part(name: "Free pages", kind: .dead, bytes: free, count: found.database.freePages))
        return ReportSpace(
            bytes: found.database.fileBytes, parts: parts.filter { $0.bytes > 0 }.sorted { $0.bytes > $1.bytes },
            compaction: free == 0 ? "SQLite's VACUUM would free nothing: no page is free." : "SQLite's VACUUM would free \(Output.bytes(free)).")
    }

    static func figures(_ found: CoreDataInspection) -> ReportModelGathering.Figures {
        var figures = ReportModelGathering.Figures(), entities: [String: String] = [:]
        let tables = Dictionary(found.tables.map { ($0.name, $0) }) { first, _ in first }
        for entity in found.entities {
            figures.objects[entity.name] = entity.objects
            // A subentity's rows are in its root's table.
            if entity.parent == nil {
                figures.bytes[entity.name] = tables[entity.table]?.bytes
                entities[entity.table] = entity.name
            }
        }
        for index in found.indexes {
            figures.indexes["\(entities[index.table] ?? index.table) \(index.name)"] = (UInt64(index.entries), index.bytes)
        }
        return figures
    }
}
