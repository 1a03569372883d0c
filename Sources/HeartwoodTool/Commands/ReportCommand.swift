import Foundation
import Heartwood
import RecordLog

struct ReportCommand: Command {
    static let name = "report"

    private static let store = Parameter.argument(
        "STORE", .store, "a record log, a Core Data store (.sqlite), or the directory of a backup"
    ).required()
    private static let copy = Parameter.argument("COPY", .store, "with --diff, a copy of the file to compare with")
    private static let output = Parameter.output("PAGE.html", .file, "the page; an existing page is replaced").required()
    private static let rows = Parameter.integer("rows", "the most rows of each entity, and as many more to which they refer")
        .or(1000, shown: "1,000")
    private static let query = Parameter.text(
        "query", "TEXT",
        """
        an entity, a colon and a predicate: the page shows how the store finds the objects, and what that costs; several queries are separated \
        by two semicolons
        """)
    private static let verify = Parameter.flag("verify", "verifies a file of more than 256 MiB, too, which reads all of it")
    private static let diff = Parameter.flag(
        "diff", "shows also what differs between two commits of STORE, or between STORE and COPY, as `heartwood diff` does")

    static let declaration = CommandDeclaration(
        "Makes a page that shows a store: contents, model, space, time, rows.",
        [
            CommandForm(
                [store, copy], options: [Self.output, rows, query, verify, diff, PastOption.from, PastOption.to, CoreDataStore.option],
                rules: [.needs(copy, diff), .needs(PastOption.from, diff), .needs(PastOption.to, diff)])
        ],
        databases: .refused("`heartwood inspect` and `heartwood query` show it"),
        exits: [ExitCode(0, "done, also for a damaged store"), .failed, .wrongUsage],
        discussion: """
            Writes one HTML file that needs no network and no file beside it. Of a damaged record log it shows the state before the damage.
            """,
        examples: [
            .init("report app.heartwood -o app.html", "a page to look at or to send"),
            .init("report app.heartwood -o app.html --diff --from 12", "with what changed since commit 12"),
        ])

    private let output: String
    private let gathering: ReportGathering
    private let difference: ReportDifferenceGathering?

    init(_ arguments: Arguments) throws {
        let store = try arguments[Self.store], copy = try arguments[Self.copy], newer = copy ?? store
        output = try arguments[Self.output]
        guard output != "-" else { throw ToolError.usage("the page needs a file: -o page.html") }
        gathering = ReportGathering(
            path: newer, modelFile: try arguments[CoreDataStore.option], rows: try arguments[Self.rows],
            verifies: try arguments[Self.verify],
            queries: try (arguments[Self.query] ?? "").components(separatedBy: ";;").filter { !$0.isEmpty }.map(ReportQueryGathering.init))
        let from = try arguments[PastOption.from], to = try arguments[PastOption.to]
        guard try arguments[Self.diff] else {
            difference = nil
            return
        }
        guard copy != nil || from != nil else { throw ToolError.usage("--diff needs --from, or the path of a copy to compare with") }
        difference = ReportDifferenceGathering(old: store, new: newer, from: from, to: to)
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
