import Foundation
import Heartwood
import RecordLog

struct SalvageCommand: Command {
    static let name = "salvage"

    private static let store = Parameter.argument("DAMAGED", .store, "a store's file").required()
    private static let output = Parameter.output("NEW", .file, "the new store").required()
    private static let json = Parameter.flag("json", "as --format json")

    static let declaration = CommandDeclaration(
        "Copies the undamaged parts of a damaged store to a new one.",
        [CommandForm([Self.store], options: [Self.output, TextFormat.option, json, StoreReading.unmapped], rules: [.excludes(json, [TextFormat.option])])],
        databases: .refused("`heartwood verify` says what is wrong in its tables, and the server's backups have what is lost"),
        exits: [.done, ExitCode(1, "something was lost, or nothing could be done"), .wrongUsage],
        discussion: """
            Searches the whole of DAMAGED for data whose checksums hold, writes the newest version of each row to the new store
            NEW, with its indexes, and says what is lost. DAMAGED is only read; NEW must not exist. Nobody can write to DAMAGED
            meanwhile. NEW keeps the identity, so objects keep their IDs; older commits are not in it.
            """,
        examples: [.init("salvage damaged.heartwood -o new.heartwood", "makes a store of what is whole")])

    private let store: String
    private let output: String
    private let isJSON: Bool
    private let usesMemoryMapping: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        output = try arguments[Self.output]
        isJSON = try arguments[Self.json] || arguments[TextFormat.option] == .json
        usesMemoryMapping = try !arguments[StoreReading.unmapped]
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "`heartwood verify` says what is damaged, and SQLite's `.recover` copies the undamaged parts")
        guard !FileManager.default.fileExists(atPath: output) else {
            throw ToolError.usage("\(output) exists, and a salvage overwrites nothing")
        }
        let progress = ProgressBar("salvaging")
        defer { progress.finish() }
        var options = StoredModel.options
        options.usesMemoryMapping = usesMemoryMapping
        let report = try StoreSalvage.salvage(path: store, to: output, options: options) { progress.update($0, of: $1) }
        progress.finish()
        isJSON ? Output.data(try SalvageReport.json(report)) : Output.lines(SalvageReport.lines(report))
        return report.isComplete ? 0 : 1
    }
}
