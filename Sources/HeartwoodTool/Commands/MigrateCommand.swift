import Foundation
import Heartwood

struct MigrateCommand: Command {
    static let name = "migrate"
    static let summary = "bring a store to another version of its model"
    static let help = """
        USAGE: heartwood migrate STORE --to MODEL [--mapping MAPPING] [--allow-unrelated] [--dry-run]

        MODEL is an .xcdatamodeld, .xcdatamodel, .momd or .mom, or another store, which carries its model. Entities and
        properties match by name, or by a renaming identifier that gives the old name; `heartwood model diff` shows the result beforehand.
        The store is changed at once or not at all, and nobody else may write to it meanwhile.

          --mapping M   an .xcmappingmodel that says how objects are migrated; one that names policies needs the program that has them
          --allow-unrelated   migrate even if the two models have no entity in common, so that no object is left
          --dry-run     tell what would change, and which objects would be gone, and change nothing; exit code 1 where no migration
                        can be inferred, or where one would be refused
        Objects of entities that MODEL lacks are removed; a line on standard error counts them. Fetch indexes that MODEL has and the store
        lacks are built, also where the version is the same: a version does not cover its indexes.
        """
    static let options: Set<String> = ["to", "mapping"]
    static let flags: Set<String> = ["dry-run", "allow-unrelated"]
    static let adviceForDatabases: String? = "a program that adds it with the new model migrates it, if its options ask for that"

    private let store: String
    private let model: String
    private let mapping: String?
    private let isDry: Bool
    private let acceptsUnrelated: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
        model = try arguments.required("to")
        mapping = arguments["mapping"]
        isDry = arguments.has("dry-run")
        acceptsUnrelated = arguments.has("allow-unrelated")
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
