/// The tables of all commands and options, for the guide "The command-line tool".
enum OptionTables {
    static var text: String {
        let commands = HeartwoodTool.commands
        let overview = ["| command | does |", "|---|---|"] + commands.map { "| `\($0.name)` | \(cell($0.declaration.summary)) |" }
        return ([overview] + commands.map { section($0.name, $0.declaration) }).map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private static func section(_ name: String, _ declaration: CommandDeclaration) -> [String] {
        let forms = declaration.forms.filter { $0.keyword != nil }.map { ($0.keyword ?? "", $0.meaning) }
        let rows = forms + declaration.arguments.map { ($0.name, declaration.text(of: $0)) } + declaration.options.map { ($0.heading, declaration.text(of: $0)) }
        let usage = declaration.forms.flatMap { form in
            WrappedText.join(["heartwood \(name)"] + form.usage, width: HelpText.columns - 4).enumerated().map { ($0 == 0 ? "" : "    ") + $1 }
        }
        return ["### heartwood \(name)", "", declaration.summary, "", "```text"] + usage + ["```"]
            + (rows.isEmpty ? [] : ["", "| | |", "|---|---|"] + rows.map { "| `\(cell($0))` | \(cell($1)) |" })
    }

    /// A bar would end the cell.
    private static func cell(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("|", with: #"\|"#)
    }
}
