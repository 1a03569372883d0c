/// One way to call a command.
struct CommandForm: Sendable {
    /// The first word behind the command's name, such as `list` of `backup list`; nil for the form without one.
    let keyword: String?
    /// What this form does, where a command has several.
    let meaning: String
    let arguments: [ParameterDeclaration]
    let options: [ParameterDeclaration]
    /// Options of the command's other forms that an earlier version of the tool took here and did not use. So does this one, with a warning.
    let unused: [ParameterDeclaration]

    let rules: [ParameterRule]

    init(_ arguments: [any DeclaredParameter], options: [any DeclaredParameter] = [], rules: [ParameterRule] = []) {
        self.init(keyword: nil, meaning: "", arguments, options, [], rules)
    }

    init(
        _ keyword: String, meaning: String, _ arguments: [any DeclaredParameter], options: [any DeclaredParameter] = [],
        unused: [any DeclaredParameter] = [], rules: [ParameterRule] = []
    ) {
        self.init(keyword: keyword, meaning: meaning, arguments, options, unused, rules)
    }

    private init(
        keyword: String?, meaning: String, _ arguments: [any DeclaredParameter], _ options: [any DeclaredParameter],
        _ unused: [any DeclaredParameter], _ rules: [ParameterRule]
    ) {
        self.keyword = keyword
        self.meaning = meaning
        self.arguments = arguments.map(\.declaration)
        self.options = options.map(\.declaration)
        self.unused = unused.map(\.declaration)
        self.rules = rules
    }

    /// Its line of usage behind the command's name, in parts between which it may be broken. Options that must be given come first.
    var usage: [String] {
        let required = options.filter(\.isRequired), others = options.filter { !$0.isRequired }
        return (keyword.map { [$0] } ?? []) + (arguments + required + others).map(\.usage)
    }

    /// - Returns: nil where the form has no such option.
    func option(_ word: some StringProtocol) -> ParameterDeclaration? { options.first { $0.isNamed(word) } }
}
