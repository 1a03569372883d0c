/// What is said of an option or an argument, without the type of its value.
struct ParameterDeclaration: Sendable {
    /// Without dashes; of an argument in capitals, as usage lines show it.
    let name: String
    /// The letter of the short form.
    var letter: Character?
    /// What stands for the value in usage lines; nil for flags and arguments.
    var placeholder: String?
    let kind: ValueKind
    /// Behind the name, as a part of a sentence without its end.
    var meaning: String
    /// The value of an option that is not given, as help shows it.
    var fallback: String?
    var isArgument = false
    var isRequired = false
    /// Whether each further value counts. Of others the last one does.
    var isRepeated = false

    var isFlag: Bool { kind == .flag }

    /// As errors name it.
    var title: String { isArgument ? name : "--\(name)" }

    /// As a line of help begins.
    var heading: String { (letter.map { "-\($0), " } ?? "") + title + (placeholder.map { " \($0)" } ?? "") }

    /// As a usage line shows it.
    var usage: String {
        let text = letter.map { "-\($0)" } ?? title
        let whole = text + (placeholder.map { " \($0)" } ?? "") + (isRepeated ? " …" : "")
        return isRequired ? whole : "[\(whole)]"
    }

    /// The meaning with the value of an option that is not given.
    var text: String { meaning + (fallback.map { " (default: \($0))" } ?? "") }

    /// Whether a word of a command line names the option.
    func isNamed(_ word: some StringProtocol) -> Bool {
        guard !isArgument else { return false }
        return word.hasPrefix("--") ? word.dropFirst(2) == name : letter.map { word == "-\($0)" } ?? false
    }
}
