import Foundation
import Heartwood
import HeartwoodSQLite

/// Writes a whole store as an SQLite file.
struct DatabaseExport {
    private let output: String
    /// A compiled model, or a store of Core Data's.
    private let model: String?
    private let isPlain: Bool

    static let output = OutputFile.option.meaning(
        OutputFile.option.declaration.meaning + ". With --format sqlite it is the file to make, and nothing may be there")
    static let model = CoreDataStore.option.meaning(
        """
        the model of a Core Data store without a model cache. With --format sqlite a .momd, or a .mom in it, or a store of Core Data's with this \
        version of the model, for the version hashes, which Heartwood cannot compute: without them Core Data opens the file only with \
        NSIgnorePersistentStoreVersioningOption. If STORE is itself Core Data's, it knows its version; if it has no model, M is its model. It \
        goes through a record log beside FILE, which is removed again
        """)
    static let plain = Parameter.flag(
        "plain",
        "with --format sqlite, ordinary tables for SQL: readable names, foreign keys, dates as ISO 8601, decimals and UUIDs as text")

    init(_ arguments: Arguments) throws {
        guard let output = try arguments[Self.output], output != "-" else { throw ToolError.usage("--format sqlite needs a file: -o App.sqlite") }
        self.output = output
        model = try arguments[Self.model]
        isPlain = try arguments[Self.plain]
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
