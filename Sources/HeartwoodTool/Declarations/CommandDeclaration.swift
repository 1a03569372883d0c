/// All that is said of a command: its parsing, errors of usage, help, manual, completions and tables of options come from it.
struct CommandDeclaration: Sendable {
    struct Example: Sendable {
        /// Behind `heartwood`.
        let line: String
        let meaning: String

        init(_ line: String, _ meaning: String) { (self.line, self.meaning) = (line, meaning) }
    }

    /// Whether a command takes the URL of a store in a PostgreSQL database.
    enum DatabaseUse: Sendable {
        case taken
        /// The command has nothing to do with stores.
        case foreign
        /// With what to do in its place, as a sentence without its end.
        case refused(String)
    }

    /// What the command does: one sentence.
    let summary: String
    let forms: [CommandForm]
    let databases: DatabaseUse
    /// Paragraphs, between which lines are empty.
    let discussion: String
    let examples: [Example]
    let exits: [ExitCode]
    /// The options of all forms, each once.
    let options: [ParameterDeclaration]
    /// The arguments of all forms, each once.
    let arguments: [ParameterDeclaration]

    init(
        _ summary: String, _ forms: [CommandForm], databases: DatabaseUse, exits: [ExitCode] = [.done, .failed, .wrongUsage],
        discussion: String = "", examples: [Example]
    ) {
        self.summary = summary
        self.forms = forms
        self.databases = databases
        self.exits = exits
        options = Self.distinct(forms.flatMap(\.options))
        arguments = Self.distinct(forms.flatMap(\.arguments))
        self.discussion = discussion
        self.examples = examples
    }

    /// What a parameter means, with what it needs and excludes.
    func text(of parameter: ParameterDeclaration) -> String {
        func titles(_ kind: ParameterRule.Kind) -> String {
            let rules = forms.flatMap(\.rules).filter { $0.kind == kind && $0.parameter.name == parameter.name }
            return Self.distinct(rules.flatMap(\.others)).map(\.title).joined(separator: ", ")
        }
        let (needed, excluded) = (titles(.needs), titles(.excludes))
        return parameter.text + (needed.isEmpty ? "" : "; needs \(needed)") + (excluded.isEmpty ? "" : "; not with \(excluded)")
    }

    /// The discussion, and what is said of databases.
    var paragraphs: [String] {
        let more: [String] = switch databases {
        case .taken: [DatabaseStore.help]
        case .foreign: []
        case .refused(let advice): ["It takes no store in a PostgreSQL database; \(advice)."]
        }
        return WrappedText.paragraphs(discussion) + more
    }

    /// The form that a command line has: that of its first word, or else the one without such a word.
    func form(_ positional: [String]) -> CommandForm {
        let named = positional.first.flatMap { word in forms.first { $0.keyword == word } }
        // A form that needs more is not meant where a file has the name of its keyword.
        guard let named, positional.count > 1 || plainForm == nil else { return plainForm ?? forms[0] }
        return named
    }

    private var plainForm: CommandForm? { forms.first { $0.keyword == nil } }

    private static func distinct(_ list: [ParameterDeclaration]) -> [ParameterDeclaration] {
        var names: Set<String> = []
        return list.filter { names.insert($0.name).inserted }
    }
}

/// An exit code of a command and what it means.
struct ExitCode: Sendable {
    let code: Int32
    let meaning: String

    init(_ code: Int32, _ meaning: String) { (self.code, self.meaning) = (code, meaning) }

    static let done = ExitCode(0, "done")
    static let failed = ExitCode(1, "failed")
    static let wrongUsage = ExitCode(2, "wrong usage, or not a store")
    static let doubts = ExitCode(ReferenceDoubts.exitCode, ReferenceDoubts.meaning)
}
