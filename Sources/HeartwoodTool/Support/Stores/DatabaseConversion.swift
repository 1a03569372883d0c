import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite

/// Moves a store into a PostgreSQL database, or out of one.
struct DatabaseConversion {
    private let source: String
    private let target: String
    private let verifies: Bool

    init(_ source: String, to target: String, verifies: Bool) { (self.source, self.target, self.verifies) = (source, target, verifies) }

    /// - Returns: the exit code.
    func run() throws -> Int32 {
        let log = DatabaseStore.isOne(source) || CoreDataStore.isOne(source)
        guard log, DatabaseStore.isOne(target) else { return try DatabaseStore.isOne(target) ? load(source) : dump(to: target) }
        return try Self.withTemporaryLog { path in
            let code = DatabaseStore.isOne(source) ? try dump(to: path) : try convert(to: path)
            return max(code, try load(path))
        }
    }

    /// Calls `body` with the path of a record log in the folder for temporary files, which is removed behind it.
    static func withTemporaryLog<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-convert-\(UUID().uuidString)")
        // A private store's rows are for its owner only.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appendingPathComponent("store.heartwood").path)
    }

    // MARK: Steps

    private func convert(to path: String) throws -> Int32 {
        let bar = ProgressBar("converting")
        defer { bar.finish() }
        let conversion = SQLiteConversion(
            URL(fileURLWithPath: source), model: nil, keepsHistory: false, verifies: verifies, acceptsUnrelated: false, progress: bar.update)
        let report = try conversion.run(to: URL(fileURLWithPath: path))
        bar.finish()
        let told = ConversionSummary(report, source: source, target: target)
        Output.lines(told.references + told.losses)
        return ReferenceDoubts.code(report.references)
    }

    private func load(_ path: String) throws -> Int32 {
        let open = try OpenStore(path: path, isReadOnly: true)
        defer { try? open.close() }
        guard let store = open.coordinator.persistentStores.first else { return 1 }
        let transfer = try DatabaseStore.transfer(target), bar = ProgressBar("sending")
        defer { bar.finish() }
        let report = try transfer.load(store, of: open.coordinator, verifies: verifies) { bar.update(UInt64($0), of: UInt64(max($0, $1))) }
        bar.finish()
        tell(report.entities, report.pairs, report.transactions)
        if !report.renumbered.isEmpty {
            Output.line(
                "The rows of \(report.renumbered.joined(separator: ", ")) got new numbers: entities of one table had the same. URIs of these objects that "
                    + "a program has saved lead elsewhere.")
        }
        Output.line("\(Output.count(report.objects, "object")): \(try shown(source)) is now also \(transfer.shown)")
        return 0
    }

    private func dump(to path: String) throws -> Int32 {
        let transfer = try DatabaseStore.transfer(source), bar = ProgressBar("reading")
        defer { bar.finish() }
        let report = try transfer.dump(to: URL(fileURLWithPath: path), verifies: verifies) { bar.update(UInt64($0), of: UInt64(max($0, $1))) }
        bar.finish()
        if path == target { tell(report.entities, report.pairs, report.transactions) }
        list(report.unnamed, "row", "has no entity and is left out", "have no entity and are left out")
        list(report.unfit, "value", "is none that a save accepts", "are none that a save accepts")
        list(report.doubts, "statement", "about the tables' values is doubtful", "about the tables' values are doubtful")
        if path == target { Output.line("\(Output.count(report.objects, "object")): \(transfer.shown) is now also \(path)") }
        return 0
    }

    private func shown(_ store: String) throws -> String { DatabaseStore.isOne(store) ? try DatabaseStore.shown(store) : store }

    private func tell(_ entities: [(name: String, count: Int)], _ pairs: Int, _ transactions: Int) {
        Output.lines(ConversionSummary.contents(entities.map { ($0.name, $0.count) }.sorted { $0.name < $1.name }, pairs: pairs))
        if transactions > 0 { Output.line("history: \(Output.count(transactions, "transaction")), left out") }
    }

    private func list(_ findings: StoreFindings, _ what: String, _ one: String, _ many: String) {
        for line in ConversionSummary.list(findings, what, one, many) { Output.line(line) }
    }
}
