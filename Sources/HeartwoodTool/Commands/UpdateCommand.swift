import Heartwood

struct UpdateCommand: Command {
    static let name = "update"

    private static let set = Parameter.text("set", "NAME=VALUE", "a property and its new value").repeated().required()

    static let declaration = CommandDeclaration(
        "Sets properties of the objects that a predicate finds, as one save.",
        [CommandForm(ChangeRequest.arguments, options: [set] + ChangeRequest.options(of: name), rules: ChangeRequest.rules)],
        databases: .taken, exits: ChangeRequest.exits,
        discussion: """
            VALUE is written as in a field of a CSV file for `heartwood import`; an empty one is an empty text. null is no value. A value
            that begins with a quote is JSON, so that a text may be "null" itself. A relationship takes the URI of an object or its value of the
            destination's uniqueness constraint, one to many a JSON list of these, which replaces the members.

            \(ChangeRequest.meaning)

            \(FetchOptions.constants)
            """,
        examples: [
            .init("update app.heartwood Person --where 'age < 18' --set isMember=no --dry-run", "shows what would change"),
            .init(
                "update app.heartwood Person --where 'name == \"Ada\"' --set 'friends=[\"b@example.org\"]' --set note=null",
                "sets a relationship, and takes a value away"),
        ])

    private let request: ChangeRequest
    private let assignments: [String]

    init(_ arguments: Arguments) throws {
        request = try ChangeRequest(arguments, of: Self.name)
        assignments = try arguments[Self.set]
    }

    func run() throws -> Int32 {
        try request.run { open, entity in .update(try assignments.map { try Assignment($0, of: entity, in: open) }) }
        return 0
    }
}
