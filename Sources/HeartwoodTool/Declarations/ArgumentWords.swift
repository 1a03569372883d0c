/// The words of a command line, each with what it is by the options that a command declares.
struct ArgumentWords: Sequence, IteratorProtocol {
    enum Word {
        case positional(String)
        /// An option with its value; a flag's is empty.
        case option(ParameterDeclaration, String)
        /// An option at the end of the line, without its value.
        case unfinished(ParameterDeclaration)
        /// A flag that is given a value.
        case superfluous(ParameterDeclaration)
        /// A word with a dash that names no option.
        case unknown(String)
    }

    private var rest: ArraySlice<String>
    private let options: [ParameterDeclaration]
    private(set) var endsOptions = false

    init(_ words: [String], _ options: [ParameterDeclaration]) {
        rest = words[...]
        self.options = options
    }

    mutating func next() -> Word? {
        guard let word = rest.popFirst() else { return nil }
        // A single dash is standard input; two dashes end the options.
        guard !endsOptions, word.hasPrefix("-"), word != "-" else { return .positional(word) }
        guard word != "--" else {
            endsOptions = true
            return next()
        }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let option = options.first(where: { $0.isNamed(parts[0]) }) else { return .unknown(String(parts[0])) }
        if option.isFlag { return parts.count == 1 ? .option(option, "") : .superfluous(option) }
        if parts.count == 2 { return .option(option, String(parts[1])) }
        return rest.popFirst().map { .option(option, $0) } ?? .unfinished(option)
    }
}
