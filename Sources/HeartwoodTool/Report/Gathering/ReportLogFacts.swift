import Foundation
import Heartwood
import RecordLog

/// What the inspection of a record log says, in the words of a report.
enum ReportLogFacts {
    /// - Parameter isWhole: whether the inspection has read the log's frames.
    static func facts(_ found: StoreInspection, isWhole: Bool) -> [ReportOverview.Fact] {
        let counted = [
            ("Commits", "\(Output.number(found.commits)), the newest is number \(found.sequence)"), ("Checkpoints", Output.number(found.checkpoints)),
        ]
        return ([("Identity", found.storeID.uuidString), ("Format", "version \(found.formatVersion)")]
            + (isWhole ? counted : [("Newest commit", "number \(found.sequence)")])
            + [
                ("Live rows and values", Output.bytes(rows(found))), ("Indexes", Output.bytes(found.indexBytes)),
                ("A compaction", compaction(found)),
            ]).map { ReportOverview.Fact(name: $0.0, text: $0.1) }
    }

    /// The live bytes of all entities.
    private static func rows(_ found: StoreInspection) -> UInt64 { found.tables.reduce(0) { $0 &+ $1.liveBytes } }

    private static func rest(_ whole: UInt64, _ part: UInt64) -> UInt64 { whole > part ? whole - part : 0 }

    private static func compaction(_ found: StoreInspection) -> String {
        let share = found.fileBytes == 0 ? 0 : Int((100 * Double(found.deadBytes) / Double(found.fileBytes)).rounded())
        return found.deadBytes == 0
            ? "would free nothing"
            : "would free about \(Output.bytes(found.deadBytes)), \(share) % of the file, and give up the commits before the newest"
    }

    /// - Parameter isDamaged: whether a verification has found damage, or the inspection has met it.
    static func advice(_ found: StoreInspection, _ path: String, isDamaged: Bool) -> [ReportOverview.Advice] {
        var advice: [ReportOverview.Advice] = []
        let file = ShellWord.quoted(path)
        guard !isDamaged, found.damage == nil else {
            return [ReportOverview.Advice(
                text: "The file is damaged. This page shows the state before the damage, if there is one; a salvage saves what lies behind it.",
                command: "heartwood salvage \(file) -o saved.heartwood")]
        }
        if found.deadBytes > found.logBytes / 4, found.deadBytes > 1 << 16 {
            advice.append(ReportOverview.Advice(
                text: "\(Output.bytes(found.deadBytes)) of \(Output.bytes(found.logBytes)) are dead: older versions of rows, deleted rows, and old "
                    + "indexes. A compaction frees them, and gives up the commits before the newest.",
                command: "heartwood compact \(file)"))
        }
        if found.indexBytes > found.liveBytes, found.indexBytes > 1 << 20 {
            advice.append(ReportOverview.Advice(
                text: "The indexes are larger than the rows. The view Model shows what each of them takes.", command: nil))
        }
        return advice
    }

    /// - Parameter segments: the segments of the log; nil if they are not known.
    static func space(_ found: StoreInspection, _ segments: SegmentSpace?, _ titles: ReportTitles) -> ReportSpace {
        var parts: [ReportSpace.Part] = []
        for table in found.tables {
            let values = min(table.values?.bytes ?? 0, table.liveBytes)
            parts.append(ReportSpace.Part(name: table.name, kind: .rows, bytes: table.liveBytes - values, count: table.rows))
            if values > 0 { parts.append(ReportSpace.Part(name: table.name, kind: .values, bytes: values, count: table.values?.count)) }
        }
        for index in found.indexes {
            parts.append(ReportSpace.Part(
                name: "\(index.table) \(index.name)", kind: .index, bytes: index.bytes, count: Int(clamping: index.entries)))
        }
        parts.append(ReportSpace.Part(
            name: "Primary indexes, where each row lies", kind: .index, bytes: rest(found.indexBytes, found.indexes.reduce(0) { $0 &+ $1.bytes }), count: nil))
        parts.append(ReportSpace.Part(name: "Model and metadata", kind: .other, bytes: rest(found.liveBytes, rows(found)), count: nil))
        parts.append(ReportSpace.Part(name: "Dead", kind: .dead, bytes: found.deadBytes, count: nil))
        // Room that the file has behind its log.
        parts.append(ReportSpace.Part(name: "Room for the next commits", kind: .other, bytes: rest(found.fileBytes, found.logBytes), count: nil))
        parts.append(ReportSpace.Part(name: "Header", kind: .other, bytes: rest(found.fileBytes, parts.reduce(0) { $0 &+ $1.bytes }), count: nil))
        return ReportSpace(
            bytes: found.fileBytes, parts: parts.filter { $0.bytes > 0 }.sorted { $0.bytes > $1.bytes },
            segments: segments?.segments.map { ReportSpace.Segment(bytes: $0.bytes, rows: $0.rows, indexes: $0.indexes, dead: $0.dead) },
            values: values(found, titles), compaction: "A compaction (`heartwood compact`) \(compaction(found)).")
    }

    private static func values(_ found: StoreInspection, _ titles: ReportTitles) -> [ReportSpace.Value] {
        found.tables.flatMap { table in
            table.largest.compactMap { value in
                titles.id(table.name, row: value.row).map { ReportSpace.Value(id: $0, name: value.column, bytes: value.bytes) }
            }
        }.sorted { $0.bytes > $1.bytes }
    }

    static func figures(_ found: StoreInspection) -> ReportModelGathering.Figures {
        var figures = ReportModelGathering.Figures()
        for table in found.tables {
            figures.objects[table.name] = table.rows
            figures.bytes[table.name] = table.liveBytes
        }
        for index in found.indexes { figures.indexes["\(index.table) \(index.name)"] = (index.entries, index.bytes) }
        return figures
    }
}
