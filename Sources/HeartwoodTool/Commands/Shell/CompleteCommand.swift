/// What the scripts of `completions` run. People do not, so lists of commands lack it.
struct CompleteCommand: Command {
    static let name = "complete"

    private static let words = Parameter.argument("WORD", .text, "the words behind `heartwood`, and the one at the cursor last").repeated()

    static let declaration = CommandDeclaration(
        "Lists what may stand at the cursor of a command line.", [CommandForm([words])], databases: .foreign, exits: [.done],
        discussion: "The first line says what is wanted: words, files or folders. Each word follows in a line, with its meaning behind a tab.",
        examples: [.init("complete -- query app.heartwood Per", "the entities whose names begin so")])

    private let words: [String]

    init(_ arguments: Arguments) throws { words = try arguments[Self.words] }

    func run() throws -> Int32 {
        Output.data(Completion.of(words).lines.joined(separator: "\n"))
        return 0
    }
}
