import Foundation
import Heartwood
import HeartwoodSQLite
import RecordLog

/// Gathers what a report shows of a store.
struct ReportGathering {
    private static let checkLinesMax = 200

    let path: String
    let modelFile: String?
    /// The most rows of an entity.
    let rows: Int
    /// Whether to verify a file of any size.
    let verifies: Bool
    let queries: [ReportQueryGathering]
    /// A larger file is verified on demand only, and not read frame by frame.
    var wholeBytesMax: UInt64 = 256 << 20

    /// - Throws: for what is no store, and what cannot be read at all. A damaged store has a report of what is known.
    func data() throws -> ReportData {
        do {
            if BucketBackup.isOne(path) { return try backup() }
            if CoreDataStore.isOne(path) { return try database() }
            if FileKind.isDirectory(path) { return try backup() }
            return try log()
        } catch where Self.isDamage(error) {
            return report(unreadable(error))
        }
    }

    /// An overview of whatever the path has.
    func overview() -> ReportOverview {
        do {
            return try data().overview ?? unreadable(ToolError.failure("there is no overview"))
        } catch {
            return unreadable(error)
        }
    }

    private var title: String { URL(fileURLWithPath: path).lastPathComponent }

    private func report(_ overview: ReportOverview) -> ReportData {
        ReportData(title: title, overview: overview)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard !(error is ToolError) else { return false }
        let cause = error as? StoreError ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError
        if let cause { return cause.code == .corrupt }
        // Bytes that are no store are wrong usage.
        return [NSFileReadCorruptFileError, NSSQLiteError].contains((error as NSError).code) && ToolError.exitCode(of: error) == 1
    }

    private func unreadable(_ error: any Error) -> ReportOverview {
        var check = ReportOverview.Check(state: .unreadable, summary: ToolError.sentence(of: error))
        if Self.isDamage(error), let found = try? StoreCheck(path: path, modelFile: modelFile), found.verdict == .damaged {
            (check.state, check.lines) = (.damaged, Array(found.lines.prefix(Self.checkLinesMax)))
            check.more = found.lines.count - check.lines.count
        }
        return ReportOverview(kind: CoreDataStore.isOne(path) ? "Core Data store" : "Unknown", path: path, bytes: FileKind.size(path) ?? 0, check: check)
    }

    // MARK: Verification

    private func isWhole(_ bytes: UInt64) -> Bool { verifies || bytes <= wholeBytesMax }

    private func check(_ bytes: UInt64) throws -> ReportOverview.Check {
        guard isWhole(bytes) else {
            return ReportOverview.Check(
                state: .unchecked, summary: "The file has \(Output.bytes(bytes)). `heartwood report --verify` reads all of it.")
        }
        let start = ContinuousClock.now
        let found = try StoreCheck(path: path, modelFile: modelFile)
        let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
        let state: ReportOverview.Check.State = switch found.verdict {
        case .sound: .sound
        case .guessed: .guessed
        case .damaged: .damaged
        }
        let summary = state == .damaged ? "The verification found problems." : "\(found.counts) were checked."
        return ReportOverview.Check(
            state: state, summary: summary, lines: Array((state == .damaged ? found.lines : found.lines.dropLast()).prefix(Self.checkLinesMax)),
            more: max(0, found.lines.count - Self.checkLinesMax), seconds: seconds)
    }

    // MARK: Stores with rows

    /// Adds the model, the rows, the queries, and what `further` adds before the rows are read.
    private func addContent(
        to data: inout ReportData, _ figures: ReportModelGathering.Figures, acceptsDamage: Bool,
        _ further: (OpenStore, ReportTitles, inout ReportData) throws -> Void
    ) throws {
        let open = try OpenStore(path: path, modelFile: modelFile, isReadOnly: true, acceptsDamage: acceptsDamage)
        let entities = open.entities.filter { !$0.isAbstract }.sorted { $0.title < $1.title }, titles = ReportTitles(entities)
        data.overview?.entities = open.entities.count
        data.overview?.objects = entities.reduce(0) { $0 + (figures.objects[$1.title] ?? 0) }
        try further(open, titles, &data)
        data.queries = try queries.map { try $0.run(open, titles, figures.objects) }
        var gathering = ReportRowGathering(open, entities, limit: rows)
        let changed = (data.time?.points ?? []).flatMap { $0.objects ?? [] }.filter { $0.kind != "deleted" }.map(\.id)
        let found = gathering.rows(figures.objects, further: data.queries.flatMap(\.first) + changed)
        data.rows = found
        let loaded = LoadedModel(name: title, model: open.model)
        let isUsed = ReportUseGathering(open: open, rows: found, counts: figures.objects).isUsed()
        data.model = ReportModelGathering(loaded: loaded, figures: figures, isUsed: isUsed).model()
        data.diagram = ModelLayout(loaded, isMap: true)
        try open.close()
    }

    /// Adds the content as far as it can be read. Of a store that is known to be damaged the page says what cannot be shown.
    private func addContent(
        to data: inout ReportData, of check: ReportOverview.Check, _ figures: ReportModelGathering.Figures, acceptsDamage: Bool,
        _ further: (OpenStore, ReportTitles, inout ReportData) throws -> Void
    ) throws {
        do {
            try addContent(to: &data, figures, acceptsDamage: acceptsDamage, further)
        } catch where check.state == .damaged {
            // The page goes to others, whom the folders of this machine do not concern.
            let reason = ToolError.sentence(of: error).replacing(URL(fileURLWithPath: path).path, with: title)
            data.overview?.check.lines.append("The content cannot be shown: \(reason)")
        }
    }

    // MARK: Record logs

    private func log() throws -> ReportData {
        let bytes = FileKind.size(path) ?? 0
        let found = isWhole(bytes) ? try StoreInspection.inspect(path: path) : try StoreInspection.survey(path: path)
        let check = try check(found.fileBytes)
        var overview = ReportOverview(kind: "Record log", path: path, bytes: found.fileBytes, check: check)
        overview.facts = ReportLogFacts.facts(found, isWhole: isWhole(bytes))
        overview.advice = ReportLogFacts.advice(found, path, isDamaged: check.state == .damaged)
        var data = report(overview)
        try addContent(to: &data, of: check, ReportLogFacts.figures(found), acceptsDamage: true) { open, titles, data in
            data.space = ReportLogFacts.space(found, try? open.log?.segmentSpace(), titles)
            data.time = try open.log.map { try ReportTimeGathering(titles: titles).commits($0) }
        }
        return data
    }

    // MARK: Core Data stores

    private func database() throws -> ReportData {
        let found = try CoreDataInspection.inspect(path: path, given: try modelFile.map(CoreDataStore.file))
        let check = try check(found.database.fileBytes)
        var overview = ReportOverview(kind: "Core Data store (\(found.storeType))", path: path, bytes: found.database.fileBytes, check: check)
        overview.facts = ReportDatabaseFacts.facts(found)
        overview.advice = ReportDatabaseFacts.advice(found, path)
        var data = report(overview)
        data.space = ReportDatabaseFacts.space(found)
        try addContent(to: &data, of: check, ReportDatabaseFacts.figures(found), acceptsDamage: false) { open, titles, data in
            guard let oldest = found.history?.oldest?.number, let newest = found.history?.newest?.number, oldest <= newest else { return }
            data.time = try ReportTimeGathering(titles: titles).transactions(open, numbers: oldest...newest)
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
