import Heartwood

struct DeleteCommand: Command {
    static let name = "delete"

    static let declaration = CommandDeclaration(
        "Deletes the objects that a predicate finds, by the model's delete rules, as one save.",
        [CommandForm(ChangeRequest.arguments, options: ChangeRequest.options(of: name), rules: ChangeRequest.rules)],
        databases: .taken, exits: ChangeRequest.exits,
        discussion: """
            \(ChangeRequest.meaning)

            \(FetchOptions.constants)
            """,
        examples: [
            .init("delete app.heartwood Message --where 'sent < \"2020\"' --dry-run", "shows what would go, and what delete rules take along"),
            .init("delete app.heartwood Message --where 'sent < \"2020\"' --author cleanup", "deletes them"),
        ])

    private let request: ChangeRequest

    init(_ arguments: Arguments) throws {
        request = try ChangeRequest(arguments, of: Self.name)
    }

    func run() throws -> Int32 {
        try request.run { _, _ in .delete }
        return 0
    }
}
