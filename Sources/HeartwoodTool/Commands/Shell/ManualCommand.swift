struct ManualCommand: Command {
    static let name = "manual"

    private enum Format: String, CaseIterable {
        case roff, markdown
    }

    private static let format = Parameter.choice(
        "format", Format.self, "a page for man, or the tables of the guide \"The command-line tool\""
    ).or(.roff)

    static let declaration = CommandDeclaration(
        "Prints the manual page, which has all commands and options.", [CommandForm([], options: [Self.format])], databases: .foreign,
        exits: [.done, .failed, ExitCode(2, "wrong usage")],
        examples: [
            .init("manual > /usr/local/share/man/man1/heartwood.1", "installs it"), .init("manual | man -l -", "shows it"),
        ])

    private let format: Format

    init(_ arguments: Arguments) throws { format = try arguments[Self.format] }

    func run() throws -> Int32 {
        Output.data(format == .roff ? ManualPage.text : OptionTables.text)
        return 0
    }
}
