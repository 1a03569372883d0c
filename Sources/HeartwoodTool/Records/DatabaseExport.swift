import Foundation
import Heartwood
import HeartwoodSQLite

/// Writes a whole store as an SQLite file.
struct DatabaseExport {
    private let output: String
    /// A compiled model, or a store of Core Data's.
    private let model: String?
    private let isPlain: Bool

    static let flag = "plain"

    init(_ arguments: Arguments) throws {
        guard let output = arguments["output"], output != "-" else { throw ToolError.usage("--format sqlite needs a file: -o App.sqlite") }
        let others = ["entity", "where", "sort", "limit"].filter { arguments[$0] != nil } + (arguments.has("ids") ? ["ids"] : [])
        guard others.isEmpty else { throw ToolError.usage("--format sqlite writes the whole store; it does not go with --\(others[0])") }
        self.output = output
        model = arguments["model"]
        isPlain = arguments.has(Self.flag)
        guard model.map(FileManager.default.fileExists(atPath:)) ?? true else { throw ToolError.usage("there is no \(model ?? "")") }
    }

    func run(_ open: OpenStore) throws {
        guard model == nil || !isPlain else { throw ToolError.usage("--model tells Core Data's version hashes, which --plain does not have") }
        guard let store = open.coordinator.persistentStores.first else { return }
        let bar = ProgressBar("Writing"), layout: SQLiteStoreExport.Layout = isPlain
            ? .plain : .coreData(version: model.map { URL(fileURLWithPath: $0) })
        defer { bar.finish() }
        let summary = try SQLiteStoreExport(store, layout).write(to: URL(fileURLWithPath: output)) { done, total in
            bar.update(UInt64(done), of: UInt64(total))
        }
        bar.finish()
        report(summary)
    }

    /// Writes a store of Core Data's own.
    /// - Returns: the exit code.
    func rewrite(_ source: String) throws -> Int32 {
        let found = try CoreDataStore.model(source, given: model), bar = ProgressBar("Writing")
        defer { bar.finish() }
        let given = model.map { (model: found.model, file: URL(fileURLWithPath: $0)) }
        let rewrite = SQLiteRewrite(URL(fileURLWithPath: source), model: given, isPlain: isPlain)
        let (conversion, summary) = try rewrite.write(to: URL(fileURLWithPath: output)) { done, total in
            bar.update(UInt64(done), of: UInt64(total))
        }
        bar.finish()
        let told = ConversionSummary(conversion, source: source, target: output)
        Output.lines(told.references + told.losses)
        report(summary)
        return ReferenceDoubts.code(conversion.references)
    }

    private func report(_ summary: SQLiteStoreExport.Summary) {
        let total = summary.counts.reduce(0) { $0 + $1.count }
        for (entity, count) in summary.counts where count > 0 { Output.line("  \(Output.number(count)) \(entity)") }
        Output.line("\(Output.count(total, "object")) \(total == 1 ? "is" : "are") in \(output)")
        if !summary.renumbered.isEmpty {
            Output.line(
                "The rows of \(summary.renumbered.joined(separator: ", ")) got new numbers: entities of one table had the same. URIs of these "
                    + "objects that an app has saved lead elsewhere.")
        }
        guard !isPlain else { return }
        if !summary.unwrittenIndexes.isEmpty {
            Output.line(
                "The file lacks the indexes \(summary.unwrittenIndexes.joined(separator: ", ")): those over expressions, of other kinds than "
                    + "binary, and with a condition that SQL does not say exactly are not written. Fetches find the same objects without them.")
        }
        if !summary.hasVersion {
            Output.line(
                "The file has no version hashes, which only Xcode computes: Core Data opens it with NSIgnorePersistentStoreVersioningOption. "
                    + "--model App.momd writes them.")
        }
    }
}
