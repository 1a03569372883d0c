import Heartwood

/// The parts that the commands `update` and `delete` have in common.
struct ChangeRequest {
    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()
    private static let entity = Parameter.argument("ENTITY", .entity, "whose objects, with those of entities below it").required()
    private static let all = Parameter.flag("all", "all objects of the entity")
    private static let dryRun = Parameter.flag("dry-run", "shows what would change and what is refused, and saves nothing")

    private static func author(of command: String) -> Parameter<String> {
        Parameter.text("author", "NAME", "the author of the save").or("heartwood \(command)")
    }

    static let arguments: [any DeclaredParameter] = [store, entity]
    static let rules = [ParameterRule.excludes(all, [FetchOptions.condition])]
    static let exits: [ExitCode] = [.done, ExitCode(1, "failed, or an object refuses the change, and nothing is saved"), .wrongUsage]

    static func options(of command: String) -> [any DeclaredParameter] { [FetchOptions.condition, all, dryRun, author(of: command)] }

    static let meaning = """
        Everything is one save with the model's validation, delete rules and inverses, and one commit with an author. If an object refuses, it is
        named with the property and the reason, and nothing is saved. Each changed object is in memory until the save ends. --dry-run shows the
        first ten objects as `heartwood diff` does, the numbers of all, and what is refused.
        """

    private let store: String
    private let entity: String
    private let predicate: NSPredicate?
    private let author: String
    private let isDry: Bool

    init(_ arguments: Arguments, of command: String) throws {
        (store, entity) = (try arguments[Self.store], try arguments[Self.entity])
        predicate = try arguments[FetchOptions.condition]
        author = try arguments[Self.author(of: command)]
        isDry = try arguments[Self.dryRun]
        guard try predicate != nil || arguments[Self.all] else {
            throw ToolError.usage("\(FetchOptions.condition.title) is missing, or \(Self.all.title) where all objects are meant")
        }
    }

    /// - Parameter kind: makes the change from the opened store and the entity.
    func run(_ kind: (OpenStore, NSEntityDescription) throws -> ObjectChange.Kind) throws {
        try CoreDataStore.refuse(store, CoreDataStore.conversion(store))
        // A dry run writes nothing, not even a recovery.
        let open = try OpenStore(path: store, isReadOnly: isDry)
        open.context.transactionAuthor = author
        let described = try open.entity(entity)
        try ObjectChange(open: open, entity: described, kind: try kind(open, described)).run(predicate, isDry: isDry)
        try open.close()
    }
}
