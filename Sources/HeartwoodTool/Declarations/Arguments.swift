import Heartwood

/// A command's arguments, sorted by the parameters that it declares.
struct Arguments {
    /// The texts of each parameter that is given, by its name. A flag's text is empty.
    private var texts: [String: [String]] = [:]
    /// The words that are neither options nor their values.
    private(set) var positional: [String] = []
    /// The first word, where it tells the form of the command.
    let keyword: String?
    /// The options that are given, and that the form takes without using them.
    let unused: [ParameterDeclaration]

    /// - Throws: an error of usage.
    init(_ words: [String], _ declaration: CommandDeclaration) throws {
        var given: [ParameterDeclaration] = []
        for word in ArgumentWords(words, declaration.options) {
            switch word {
            case .positional(let text): positional.append(text)
            case .option(let option, let text):
                given.append(option)
                texts[option.name, default: []].append(text)
            case .unfinished(let option): throw ToolError.usage("\(option.title) needs a value")
            case .superfluous(let option): throw ToolError.usage("\(option.title) takes no value")
            case .unknown(let text): throw Self.unknown(text, declaration.options)
            }
        }
        let form = declaration.form(positional)
        keyword = form.keyword
        unused = given.filter { option in form.unused.contains { $0.name == option.name } }
        for option in unused { texts[option.name] = nil }
        if let other = given.first(where: { form.option($0.title) == nil && texts[$0.name] != nil }) { throw Self.misplaced(other, form, declaration) }
        try assign(Array(positional.dropFirst(keyword == nil ? 0 : 1)), to: form.arguments)
        for rule in form.rules { try rule.check { texts[$0] != nil } }
    }

    private mutating func assign(_ words: [String], to arguments: [ParameterDeclaration]) throws {
        var rest = words[...]
        for argument in arguments {
            guard let word = rest.first else {
                guard argument.isRequired else { continue }
                throw ToolError.usage("\(argument.name) is missing")
            }
            texts[argument.name] = argument.isRepeated ? Array(rest) : [word]
            rest = argument.isRepeated ? [] : rest.dropFirst()
        }
        if let word = rest.first { throw ToolError.usage("\"\(word)\" is one argument too many") }
    }

    /// - Throws: an error of usage, where the text is no such value or is missing.
    subscript<Value>(parameter: Parameter<Value>) -> Value {
        get throws { try parameter.value(texts[parameter.declaration.name] ?? []) }
    }

    func has(_ parameter: any DeclaredParameter) -> Bool { texts[parameter.declaration.name] != nil }

    /// The first of the parameters that is given.
    func first(of parameters: [any DeclaredParameter]) -> (any DeclaredParameter)? { parameters.first(where: has) }

    // MARK: Errors

    private static func unknown(_ word: String, _ options: [ParameterDeclaration]) -> ToolError {
        .usage("there is no option \(word)\(Spelling.suggestion(for: word, among: options.map(\.title)))")
    }

    private static func misplaced(_ option: ParameterDeclaration, _ form: CommandForm, _ declaration: CommandDeclaration) -> ToolError {
        let homes = declaration.forms.filter { $0.option(option.title) != nil }
        let names = homes.compactMap(\.keyword).joined(separator: " and ")
        return .usage(names.isEmpty ? "\(form.keyword ?? "this form") does not take \(option.title)" : "only \(names) takes \(option.title)")
    }
}
