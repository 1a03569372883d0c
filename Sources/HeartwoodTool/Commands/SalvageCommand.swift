import Foundation
import Heartwood
import RecordLog

struct SalvageCommand: Command {
    static let name = "salvage"
    static let summary = "copy the undamaged parts of a damaged store to a new one"
    static let help = """
        USAGE: heartwood salvage DAMAGED -o NEW [--json] [--no-mmap]

        Searches the whole of DAMAGED for data whose checksums hold, writes the newest version of each row to the new store
        NEW, with its indexes, and says what is lost. DAMAGED is only read; NEW must not exist. Nobody can write to DAMAGED
        meanwhile. NEW keeps the identity, so objects keep their IDs; older commits are not in it.

          -o, --output NEW   the new store
          --json             for programs
          --no-mmap          read the files and do not map them: for network and removable media. This takes memory for the
                             undamaged parts

        Exit code: 0 all was saved; 1 something was lost, or nothing could be done; 2 wrong usage, or not a store.
        """
    static let options: Set<String> = ["output"]
    static let flags: Set<String> = ["json", "no-mmap"]
    static let adviceForDatabases: String? = "`heartwood verify` says what is wrong in its tables, and the server's backups have what is lost"

    private let store: String
    private let output: String
    private let isJSON: Bool
    private let usesMemoryMapping: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["DAMAGED"])[0]
        output = try arguments.required("output")
        isJSON = arguments.has("json")
        usesMemoryMapping = !arguments.has("no-mmap")
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
