struct CompletionsCommand: Command {
    static let name = "completions"

    private static let shell = Parameter.choice("SHELL", CompletionScript.self, "bash, zsh or fish").asArgument.required()

    static let declaration = CommandDeclaration(
        "Prints a shell's script that completes the tool's command lines.", [CommandForm([shell])],
        databases: .foreign, exits: [.done, .failed, ExitCode(2, "wrong usage")],
        discussion: """
            The script completes commands, options, their choices and paths, and the names of entities and attributes of the store or the model on
            the same line. It asks the tool that is on the line, so it fits later releases too.
            """,
        examples: [
            .init("completions bash > ~/.local/share/bash-completion/completions/heartwood", "for bash, with the package bash-completion"),
            .init("completions zsh > ~/.zfunc/_heartwood", "for zsh, where ~/.zfunc is in fpath"),
            .init("completions fish > ~/.config/fish/completions/heartwood.fish", "for fish"),
        ])

    private let script: CompletionScript

    init(_ arguments: Arguments) throws { script = try arguments[Self.shell] }

    func run() throws -> Int32 {
        Output.text(script.text)
        return 0
    }
}
