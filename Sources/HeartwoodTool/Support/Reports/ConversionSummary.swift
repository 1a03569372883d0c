import Foundation
import Heartwood
import HeartwoodSQLite

/// Tells in words of a conversion.
struct ConversionSummary {
    private let report: ConversionReport
    private let source: String
    /// nil for a dry run.
    private let target: String?

    init(_ report: ConversionReport, source: String, target: String?) {
        (self.report, self.source, self.target) = (report, source, target)
    }

    var lines: [String] {
        ["model: \(report.modelOrigin)"] + migration + ([report.guessReason].compactMap(\.self) + report.guesses).map { "  " + $0 } + entities + history
            + dropped + losses + Self.list(report.repetitions, "object", "has values that are to be unique", "have values that are to be unique")
            + references + Self.list(report.doubts, "statement", "about the old store's values is doubtful", "about the old store's values are doubtful")
            + [total]
    }

    /// The relationships that are guessed and not sure.
    var references: [String] { ReferenceDoubts.lines(report.references) }

    /// The values that the new store lacks, or has otherwise.
    var losses: [String] {
        Self.list(report.dangling, "reference", "leads nowhere and is left out", "lead nowhere and are left out")
            + Self.list(report.unnamed, "row", "has no entity and is left out", "have no entity and are left out")
            + Self.list(report.changed, "value", "is changed, since its type cannot hold it", "are changed, since their types cannot hold them")
            + Self.list(report.missingFiles, "value", "is left out, since its file is missing", "are left out, since their files are missing")
    }

    private var migration: [String] {
        guard let difference = report.migration else { return [] }
        let lists = [
            ("changed", difference.changed), ("renamed", difference.renamed.sorted { $0.key < $1.key }.map { "\($0.key) to \($0.value)" }),
            ("new", difference.added), ("no longer there, with all objects", difference.removed),
        ].filter { !$0.1.isEmpty }
        return ["migrated: \(source) is of another version than the given model"] + lists.map { "  \($0.0): \($0.1.joined(separator: ", "))" }
    }

    private var entities: [String] { Self.contents(report.entities.map { ($0.name, $0.objects) }, pairs: report.pairs) }

    /// The objects of each entity, and the pairs.
    static func contents(_ entities: [(name: String, objects: Int)], pairs: Int) -> [String] {
        let width = entities.map(\.name.count).max() ?? 0
        return entities.map { name, objects in "\(name.padding(toLength: width, withPad: " ", startingAt: 0))  \(Output.number(objects))" }
            + (pairs == 0 ? [] : [Output.count(pairs, "pair") + " of relationships in join tables"])
    }

    /// The objects that the given model has no entity for.
    private var dropped: [String] {
        guard !report.dropped.isEmpty else { return [] }
        return ["left out, since the given model has no entity for them: \(DroppedObjects.text(report.dropped))"]
    }

    private var history: [String] {
        guard let history = report.history else { return [] }
        let size = "\(Output.count(history.transactions, "transaction")) with \(Output.count(history.changes, "change"))"
        return ["history: " + size + (history.isKept ? "" : ", left out; --with-history keeps them")]
    }

    static func list(_ findings: StoreFindings, _ what: String, _ one: String, _ many: String) -> [String] {
        guard findings.count > 0 else { return [] }
        let more = findings.count - findings.lines.count
        return ["\(Output.number(findings.count)) \(what)\(findings.count == 1 ? " \(one)" : "s \(many)")"] + findings.lines.map { "  " + $0 }
            + (more > 0 ? ["  … and \(Output.number(more)) more"] : [])
    }

    private var total: String {
        let objects = "\(Output.count(report.objects, "object")) of \(Output.count(report.entities.count, "entity", "entities"))"
        guard let target, let bytes = report.bytes else {
            guard report.repetitions.count == 0 else { return "nothing can be converted before these values differ" }
            return "\(objects) can be converted from \(source) (\(Output.bytes(report.sourceBytes))); nothing was written"
        }
        return "\(objects): \(source) (\(Output.bytes(report.sourceBytes))) is now also \(target) (\(Output.bytes(bytes)))"
    }
}
