import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite
import RecordLog

struct InspectCommand: Command {
    static let name = "inspect"

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()
    private static let json = Parameter.flag("json", "as --format json")
    private static let commit = Parameter.integer("commit", from: 1, "one commit: when, by whom, what it changed")
    private static let object = Parameter.text("object", "URI", .object, "one object's values, a property a line; with --json as export writes them")

    static let declaration = CommandDeclaration(
        "Shows a store's contents and its use of space.",
        [
            CommandForm(
                [Self.store],
                options: [
                    TextFormat.option, json, OutputFile.option, PastOption.option, Self.commit, Self.object, Excerpt.option, StoreReading.unmapped,
                    CoreDataStore.option, DamagedStore.option,
                ],
                rules: [
                    .excludes(Self.commit, [PastOption.option]), .needs(Excerpt.option, Self.object), .excludes(json, [TextFormat.option]),
                ])
        ],
        databases: .taken, exits: [.done, ExitCode(1, "failed, or the store is damaged"), .wrongUsage],
        discussion: """
            Of a damaged store it shows the state before the damage, with a warning; the exit code is then 0 only with --accept-damage.

            Of a Core Data store (.sqlite) it shows versions, the model and its origin, the write-ahead log, entities with their objects and
            bytes, indexes, history, values in files of their own, and what a conversion would lose. A subentity's bytes are in its root's.
            """,
        examples: [
            .init("inspect app.heartwood", "entities, counts, indexes, dead bytes and commits"),
            .init("inspect app.heartwood --commit 12", "what the twelfth commit changed"),
        ])

    let outputFile: String?
    private let store: String
    private let isJSON: Bool
    private let excerpt: Excerpt
    private let acceptsDamage: Bool
    private let usesMemoryMapping: Bool
    private let commit: Int?
    private let object: String?
    private let modelFile: String?
    private let past: PastCommit?

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        isJSON = try arguments[Self.json] || arguments[TextFormat.option] == .json
        outputFile = try arguments[OutputFile.option]
        excerpt = try arguments[Excerpt.option] ? .full : .screen
        acceptsDamage = try arguments[DamagedStore.option]
        usesMemoryMapping = try !arguments[StoreReading.unmapped]
        commit = try arguments[Self.commit]
        object = try arguments[Self.object]
        modelFile = try arguments[CoreDataStore.option]
        past = try arguments[PastOption.option]
    }

    func run() throws -> Int32 {
        if let commit {
            try DatabaseStore.refuse([store], "it has no commits; `heartwood history` lists the transactions of its history")
            try CoreDataStore.refuse(store, "it has no commits; `heartwood history` lists the transactions of its history")
            return try show(commit: UInt64(commit))
        }
        if let object { return try show(object: object) }
        if DatabaseStore.isOne(store) {
            try PastOption.refuse(past)
            return try showServer()
        }
        if CoreDataStore.isOne(store) {
            try PastOption.refuse(past)
            return try showDatabase()
        }
        let report = try StoreInspection.inspect(path: store, usesMemoryMapping: usesMemoryMapping, asOf: past)
        // Damage is shown in any case.
        let doubts = try? StoredModel.doubts(at: URL(fileURLWithPath: store), usesMemoryMapping: usesMemoryMapping, acceptsDamage: true)
        isJSON ? Output.data(try InspectionReport.json(report, doubts ?? [])) : Output.lines(InspectionReport.lines(report, doubts ?? []))
        if let damage = report.damage { DamagedStore.warn(damage) }
        return report.tail == .clean || report.tail == .inProgress || report.damage != nil && acceptsDamage ? 0 : 1
    }

    private func showDatabase() throws -> Int32 {
        let report = try CoreDataInspection.inspect(path: store, given: try modelFile.map(CoreDataStore.file))
        isJSON ? Output.data(try CoreDataReport.json(report)) : Output.lines(CoreDataReport(report).lines)
        return report.database.faults == 0 && report.log?.wrongFrame == nil && report.misfit == nil ? 0 : 1
    }

    private func showServer() throws -> Int32 {
        let report = try DatabaseReport(DatabaseStore.transfer(store).inspect())
        isJSON ? Output.data(try report.json()) : Output.lines(report.lines)
        return 0
    }

    private func show(commit number: UInt64) throws -> Int32 {
        var options = StoreOptions()
        options.isReadOnly = true
        options.usesMemoryMapping = usesMemoryMapping
        options.acceptsDamage = acceptsDamage
        let log = try LogStore.open(path: store, options: options)
        if let damage = log.damage { DamagedStore.warn(damage) }
        guard let commit = try log.commit(number) else {
            throw ToolError.failure("\(store) has no commit \(number); its newest is \(log.snapshot().sequence), and compaction drops older ones")
        }
        let catalog = log.snapshot().catalog
        isJSON ? Output.data(try InspectionReport.json(commit, catalog)) : Output.lines(InspectionReport.lines(commit, catalog))
        return 0
    }

    private func show(object uri: String) throws -> Int32 {
        let open = try OpenStore(
            path: store, modelFile: modelFile, isReadOnly: true, usesMemoryMapping: usesMemoryMapping, acceptsDamage: acceptsDamage, at: past)
        let id = try open.objectID(uri)
        let found = try open.context.existingObject(with: id)
        if isJSON {
            let writer = RecordWriter(entity: found.entity)
            try writer.line(found)
            if let failure = open.context.readingFailure { throw failure }
            try writer.flush()
        } else {
            let lines = ObjectText.lines(found, excerpt)
            if let failure = open.context.readingFailure { throw failure }
            Output.lines(lines)
        }
        return 0
    }
}
