import Foundation
import Heartwood
import RecordLog

struct ReportCommand: Command {
    static let name = "report"
    static let summary = "make a page that shows a store: contents, model, space, time, rows"
    static let help = """
        USAGE: heartwood report STORE -o PAGE.html [--rows N] [--query 'ENTITY: PREDICATE'] [--verify] [--model M]
               heartwood report STORE [COPY] --diff [--from COMMIT|TIME] [--to COMMIT|TIME] -o PAGE.html

        Writes one HTML file that needs no network and no file beside it. STORE is a record log, a Core Data store (.sqlite), or the directory
        of a backup.

          -o FILE          the page; an existing file is replaced
          --rows N         the most rows of each entity (default 1,000), and as many more to which they refer
          --query TEXT     an entity, a colon and a predicate: the page shows how the store finds the objects, and what that costs;
                           several queries are separated by two semicolons
          --verify         verify a file of more than 256 MiB, too, which reads all of it
          --diff           show also what differs between two commits of STORE, or between STORE and COPY, as `heartwood diff` does
          --from, --to     the older and the newer commit, as of `heartwood diff`
        \(CoreDataStore.help)

        Of a damaged record log it shows the state before the damage. Exit code: 0 done, also for a damaged store; 1 failed; 2 wrong usage,
        or not a store.
        """
    static let options: Set<String> = ["output", "rows", "query", "from", "to", CoreDataStore.option]
    static let flags: Set<String> = ["verify", "diff"]

    private let output: String
    private let gathering: ReportGathering
    private let difference: ReportDifferenceGathering?

    init(_ arguments: Arguments) throws {
        let isPair = arguments.positional.count == 2 && arguments.has("diff")
        let names = isPair ? try arguments.exactly(["STORE", "COPY"]) : try arguments.exactly(["STORE"])
        try DatabaseStore.refuse(names, "`heartwood inspect` and `heartwood query` show it")
        guard let output = arguments["output"], output != "-" else { throw ToolError.usage("the page needs a file: -o page.html") }
        self.output = output
        gathering = ReportGathering(
            path: names[names.count - 1], modelFile: arguments[CoreDataStore.option], rows: try arguments.integer("rows", default: 1000),
            verifies: arguments.has("verify"),
            queries: try (arguments["query"] ?? "").components(separatedBy: ";;").filter { !$0.isEmpty }.map(ReportQueryGathering.init))
        let from = try PastOption.value(arguments, "from"), to = try PastOption.value(arguments, "to")
        guard arguments.has("diff") else {
            guard from == nil, to == nil else { throw ToolError.usage("--from and --to need --diff") }
            difference = nil
            return
        }
        guard isPair || from != nil else { throw ToolError.usage("--diff needs --from, or the path of a copy to compare with") }
        difference = ReportDifferenceGathering(old: names[0], new: names[names.count - 1], from: from, to: to)
    }

    func run() throws -> Int32 {
        guard isReplaceable else { throw ToolError.usage("\(output) is there and is no page; remove it, or give another file") }
        var data = try gathering.data()
        data.difference = try difference?.difference()
        let page = try ReportPage.html(data)
        do {
            try OutputFile.replace(output, with: Data(page.utf8))
        } catch {
            throw ToolError.failure("\(output) cannot be written: \(error.message)")
        }
        Output.line("\(output): \(Output.bytes(UInt64(page.utf8.count)))")
        return 0
    }

    /// Whether the page's path has nothing, an empty file, or a page. A store is never overwritten.
    private var isReplaceable: Bool {
        guard FileManager.default.fileExists(atPath: output) else { return true }
        guard let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: output)), let start = try? file.read(upToCount: 9) else {
            // An empty file has no start; what is no file is refused when it is written.
            return true
        }
        return start.isEmpty || start.elementsEqual("<!DOCTYPE".utf8)
    }
}
