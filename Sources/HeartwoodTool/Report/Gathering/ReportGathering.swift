import Foundation
import Heartwood
import HeartwoodSQLite
import RecordLog

/// Gathers what a report shows of a store.
struct ReportGathering {
    /// A larger file is verified on demand only: a verification reads all of it.
    static let verifiedBytesMax: UInt64 = 256 << 20
    private static let checkLinesMax = 200

    let path: String
    let modelFile: String?
    /// The most rows of an entity.
    let rows: Int
    /// Whether to verify a file of any size.
    let verifies: Bool
    let queries: [ReportQueryGathering]

    func data() throws -> ReportData {
        if CoreDataStore.isOne(path) { return try database() }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue { return try backup() }
        return try log()
    }

    private var title: String { URL(fileURLWithPath: path).lastPathComponent }

    private func report(_ overview: ReportOverview) -> ReportData {
        ReportData(title: title, made: ReportTitles.milliseconds(Date()), overview: overview)
    }

    private func check(_ bytes: UInt64) throws -> ReportOverview.Check {
        guard verifies || bytes <= Self.verifiedBytesMax else {
            return ReportOverview.Check(
                state: .unchecked, summary: "Not verified: the file has \(Output.bytes(bytes)). `heartwood report --verify` reads all of it.")
        }
        let start = ContinuousClock.now
        let found = try StoreCheck(path: path, modelFile: modelFile)
        let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
        let state: ReportOverview.Check.State = switch found.verdict {
        case .sound: .sound
        case .guessed: .guessed
        case .damaged: .damaged
        }
        let summary = state == .damaged ? "The verification found problems." : Self.sentence(found.lines.last ?? "")
        return ReportOverview.Check(
            state: state, summary: summary, lines: Array((state == .damaged ? found.lines : found.lines.dropLast()).prefix(Self.checkLinesMax)),
            more: max(0, found.lines.count - Self.checkLinesMax), seconds: seconds)
    }

    /// The last line of a verification without its verdict: what was read.
    private static func sentence(_ line: String) -> String {
        line.split(separator: ": ", maxSplits: 1).last.map { "\($0) were checked." } ?? line
    }

    // MARK: Stores with rows

    /// Adds the model, the rows and the queries.
    private func addContent(to data: inout ReportData, _ figures: ReportModelGathering.Figures, acceptsDamage: Bool) throws {
        let open = try OpenStore(path: path, modelFile: modelFile, isReadOnly: true, acceptsDamage: acceptsDamage)
        let entities = open.entities.filter { !$0.isAbstract }.sorted { $0.title < $1.title }
        let loaded = LoadedModel(name: title, model: open.model)
        data.model = ReportModelGathering(loaded: loaded, figures: figures).model()
        data.overview.entities = open.entities.count
        data.overview.objects = entities.reduce(0) { $0 + (figures.objects[$1.title] ?? 0) }
        var gathering = ReportRowGathering(open, entities, limit: rows)
        data.rows = gathering.rows(figures.objects)
        data.queries = try queries.map { try $0.run(open, ReportTitles(entities), figures.objects) }
        data.diagram = ModelLayout(loaded)
        try open.close()
    }

    // MARK: Record logs

    private func log() throws -> ReportData {
        let found = try StoreInspection.inspect(path: path)
        var overview = ReportOverview(kind: "Record log", path: path, bytes: found.fileBytes, check: try check(found.fileBytes))
        overview.facts = ReportLogFacts.facts(found)
        overview.advice = ReportLogFacts.advice(found, path)
        var data = report(overview)
        data.space = ReportLogFacts.space(found)
        data.time = try ReportTimeGathering.commits(path)
        try addContent(to: &data, ReportLogFacts.figures(found), acceptsDamage: true)
        return data
    }

    // MARK: Core Data stores

    private func database() throws -> ReportData {
        let found = try CoreDataInspection.inspect(path: path, given: try modelFile.map(CoreDataStore.file))
        var overview = ReportOverview(
            kind: "Core Data store (\(found.storeType))", path: path, bytes: found.database.fileBytes, check: try check(found.database.fileBytes))
        overview.facts = ReportDatabaseFacts.facts(found)
        overview.advice = ReportDatabaseFacts.advice(found, path)
        var data = report(overview)
        data.space = ReportDatabaseFacts.space(found)
        try addContent(to: &data, ReportDatabaseFacts.figures(found), acceptsDamage: false)
        if let oldest = found.history?.oldest?.number, let newest = found.history?.newest?.number, oldest <= newest {
            data.time = try ReportTimeGathering.transactions(path, modelFile, numbers: oldest...newest)
        }
        return data
    }

    // MARK: Backups

    private func backup() throws -> ReportData {
        guard queries.isEmpty else {
            throw ToolError.usage("\(path) is a directory, and --query needs a store; `heartwood restore` makes one of a backup")
        }
        let (overview, time) = try ReportBackupGathering(path).overview()
        var data = report(overview)
        data.time = time
        return data
    }
}
