import Foundation
import Heartwood
import HeartwoodPostgreSQL

struct MigrateCommand: Command {
    static let name = "migrate"

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()
    private static let model = Parameter.text(
        "to", "MODEL", .model, "an .xcdatamodeld, .xcdatamodel, .momd or .mom, or another store, which carries its model"
    ).required()
    private static let mapping = Parameter.text(
        "mapping", "M", .file, "an .xcmappingmodel that says how objects are migrated; one that names policies needs the program that has them")
    private static let unrelated = Parameter.flag(
        "allow-unrelated", "migrates even if the two models have no entity in common, so that no object is left")
    private static let dryRun = Parameter.flag(
        "dry-run", "tells what would change, and which objects would be gone, and changes nothing")

    static let declaration = CommandDeclaration(
        "Brings a store to another version of its model.", [CommandForm([Self.store], options: [Self.model, Self.mapping, unrelated, dryRun])],
        databases: .taken,
        exits: [
            .done, ExitCode(1, "failed, or a dry run found that no migration can be inferred, or that one would be refused"), .wrongUsage,
        ],
        discussion: """
            Entities and properties match by name, or by a renaming identifier that gives the old name; `heartwood model diff` shows the result
            beforehand. The store is changed at once or not at all, and nobody else may write to it meanwhile.

            Objects of entities that MODEL lacks are removed; a line on standard error counts them. Fetch indexes that MODEL has and the store
            lacks are built, also where the version is the same: a version does not cover its indexes. A store in a database gets them with its
            new version alone, and a dry run does not count its objects.
            """,
        examples: [.init("migrate app.heartwood --to App.xcdatamodeld --dry-run", "what a migration would do")])

    private let store: String
    private let model: String
    private let mapping: String?
    private let isDry: Bool
    private let acceptsUnrelated: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        model = try arguments[Self.model]
        mapping = try arguments[Self.mapping]
        isDry = try arguments[Self.dryRun]
        acceptsUnrelated = try arguments[Self.unrelated]
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "\(CoreDataStore.conversion(store)), and migrate that")
        let old = try LoadedModel(path: store), new = try LoadedModel(path: model)
        let mappingModel = try mapping.map { path in
            guard FileManager.default.fileExists(atPath: path) else { throw ToolError.usage("there is no \(path)") }
            return try NSMappingModel.load(contentsOf: URL(fileURLWithPath: path))
        }
        for entity in mappingModel?.entityMappings ?? [] {
            guard let policy = entity.entityMigrationPolicyClassName else { continue }
            throw ToolError.usage("the mapping \(entity.name ?? "?") names the policy \(policy), which only the program that has it can call")
        }
        let difference = ModelDifference(from: old, to: new)
        if DatabaseStore.isOne(store) { return try migrateTables(difference, mappingModel, new) }
        let url = URL(fileURLWithPath: store), configuration = try StoredModel.configuration(at: url)
        guard !difference.isSameVersion else {
            Output.line("The store has this version already.")
            try OpenStore.check(configuration, madeWith: store, new.model)
            try bringIndexes(of: url, to: new.model, configuration)
            return 0
        }
        if isDry { return try tell(difference, mappingModel, new.model, url, configuration) }
        try OpenStore.check(configuration, madeWith: store, new.model)
        try StoredModel.migrate(url, to: new.model, configuration: configuration, by: mappingModel, acceptsUnrelated: acceptsUnrelated)
        try bringIndexes(of: url, to: new.model, configuration)
        return try report(new)
    }

    /// Migrates a store in a database.
    /// - Returns: the exit code.
    private func migrateTables(_ difference: ModelDifference, _ mapping: NSMappingModel?, _ new: LoadedModel) throws -> Int32 {
        guard !difference.isSameVersion else {
            Output.line("The store has this version already.")
            return 0
        }
        guard !isDry else {
            Output.lines(mapping == nil ? difference.lines : difference.changeLines)
            return mapping != nil || difference.obstacles.isEmpty ? 0 : 1
        }
        let configuration = try DatabaseStore.transfer(store).storedModel()?.configuration
        try OpenStore.check(configuration, madeWith: store, new.model)
        try StoredModel.migrate(
            DatabaseStore.url(store), to: new.model, configuration: configuration, by: mapping, type: NSPostgreSQLStoreType,
            acceptsUnrelated: acceptsUnrelated)
        return try report(new)
    }

    /// Tells how many objects have the new version.
    private func report(_ new: LoadedModel) throws -> Int32 {
        let open = try OpenStore(path: store, isReadOnly: true)
        defer { try? open.close() }
        let request = { (entity: NSEntityDescription) in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.title)
            request.includesSubentities = false
            return request
        }
        let count = try open.entities.filter { !$0.isAbstract }.reduce(0) { try $0 + open.context.count(for: request($1)) }
        Output.line("\(Output.count(count, "object")) \(count == 1 ? "has" : "have") the version of \(new.name)")
        return 0
    }

    /// Builds, renames and drops fetch indexes as the model asks for, or tells it in a dry run. A program that opens the store does the same.
    private func bringIndexes(of url: URL, to model: NSManagedObjectModel, _ configuration: String?) throws {
        let changes = try StoredModel.indexChanges(of: url, to: model, configuration: configuration)
        guard !changes.isEmpty else { return }
        if !isDry { try StoredModel.buildIndexes(of: url, to: model, configuration: configuration) }
        for name in changes.missing { Output.line("\(isDry ? "Would be built" : "Built"): the index \(name)") }
        for name in changes.dropped { Output.line("\(isDry ? "Would be dropped" : "Dropped"): the index \(name)") }
        for (old, new) in changes.renamed { Output.line("\(isDry ? "Would be renamed" : "Renamed"): the index \(old) to \(new)") }
    }

    /// Tells what a migration would do.
    /// - Returns: the exit code.
    private func tell(
        _ difference: ModelDifference, _ mapping: NSMappingModel?, _ model: NSManagedObjectModel, _ url: URL, _ configuration: String?
    ) throws -> Int32 {
        Output.lines(mapping == nil ? difference.lines : difference.changeLines)
        let dropped = try StoredModel.droppedObjects(of: url, to: model, configuration: configuration, by: mapping)
        if dropped.objects > 0 { Output.line("Would be removed, since no entity takes them over: \(dropped.text)") }
        guard mapping == nil else { return 0 }
        guard !dropped.isEverything || acceptsUnrelated else {
            Output.line("The store would not be migrated: \(dropped.refusal) \(ToolError.unrelatedModels)")
            return 1
        }
        return difference.obstacles.isEmpty ? 0 : 1
    }
}
