import Foundation
import Heartwood
import RecordLog

struct ReportCommand: Command {
    static let name = "report"

    private static let stores = Parameter.argument(
        "STORE", .store, "a record log, a Core Data store (.sqlite), or a backup: a directory or s3://BUCKET/PREFIX; with --diff also one to compare with"
    ).repeated().required()
    private static let output = Parameter.output("PAGE.html", .file, "the page; an existing page is replaced").required()
    private static let rows = Parameter.integer(
        "rows", "the most rows of each entity, and as many more to which they refer or which changed last"
    ).or(1000, shown: "1,000")
    private static let query = Parameter<ReportQueryGathering?>(
        ParameterDeclaration(
            name: "query", placeholder: "'ENTITY: PREDICATE'", kind: .request,
            meaning: "the page shows how the store finds these objects, and what that costs; may stand several times")
    ) { try ReportQueryGathering($0, $1) }.repeated()
    private static let verify = Parameter.flag("verify", "verifies a file of more than 256 MiB, too, which reads all of it")
    private static let diff = Parameter.flag(
        "diff", "shows also what differs between two commits of a store, or between two stores, as `heartwood diff` does")

    static let declaration = CommandDeclaration(
        "Makes a page that shows a store: contents, model, space, time, rows.",
        [
            CommandForm(
                [stores], options: [Self.output, rows, query, verify, diff, PastOption.from, PastOption.to, CoreDataStore.option],
                rules: [.needs(PastOption.from, diff), .needs(PastOption.to, diff)])
        ],
        databases: .refused("`heartwood inspect` and `heartwood query` show it"),
        exits: [ExitCode(0, "done, also for a damaged store"), .failed, .wrongUsage],
        discussion: """
            Writes one HTML file that needs no network and no file beside it. Of a damaged record log it shows the state before the damage. Of \
            several stores it shows what each is, how large, and whether it is sound.
            """,
        examples: [
            .init("report app.heartwood -o app.html", "a page to look at or to send"),
            .init("report app.heartwood -o app.html --diff --from 12", "with what changed since commit 12"),
            .init("report backups/*.sqlite -o files.html", "which of many files are sound"),
        ])

    private let output: String
    /// One for each store; of a pair to compare, one for the newer.
    private let gatherings: [ReportGathering]
    private let difference: ReportDifferenceGathering?

    init(_ arguments: Arguments) throws {
        let names = try arguments[Self.stores], isDifference = try arguments[Self.diff]
        if isDifference, names.count > 2 { throw ToolError.usage("--diff is for one store or two, not for \(names.count)") }
        output = try arguments[Self.output]
        guard output != "-" else { throw ToolError.usage("the page needs a file: -o page.html") }
        let shown = isDifference ? names.suffix(1) : names[...]
        let queries = try arguments[Self.query]
        guard queries.isEmpty || shown.count == 1 else { throw ToolError.usage("--query is for one store") }
        let rows = shown.count == 1 ? try arguments[Self.rows] : 0, verifies = try arguments[Self.verify]
        let modelFile = try arguments[CoreDataStore.option]
        gatherings = shown.map { ReportGathering(path: $0, modelFile: modelFile, rows: rows, verifies: verifies, queries: queries) }
        let from = try arguments[PastOption.from], to = try arguments[PastOption.to]
        guard isDifference else {
            difference = nil
            return
        }
        guard names.count == 2 || from != nil else { throw ToolError.usage("--diff needs --from, or the path of a copy to compare with") }
        difference = ReportDifferenceGathering(
            old: ComparedStore(path: names[0], modelFile: modelFile, past: from),
            new: ComparedStore(path: names[names.count - 1], modelFile: modelFile, past: to))
    }

    func run() throws -> Int32 {
        guard isReplaceable else { throw ToolError.usage("\(output) is there and is no page; remove it, or give another file") }
        var data = gatherings.count == 1 ? try gatherings[0].data() : ReportData.files(gatherings.map { $0.overview() })
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
