import Foundation
import Heartwood

/// A line of one command up to the cursor.
struct CompletionLine {
    private let declaration: CommandDeclaration
    private let current: String
    private var positional: [String] = []
    /// The texts that are given, by the kinds of what they are given for.
    private var given: [(parameter: ParameterDeclaration, text: String)] = []
    /// The option whose value is at the cursor.
    private var unfinished: ParameterDeclaration?
    private var endsOptions = false

    /// - Parameters:
    ///   - words: those before the cursor, behind the command's name.
    ///   - current: the one at the cursor.
    init(_ declaration: CommandDeclaration, _ words: [String], _ current: String) {
        self.declaration = declaration
        self.current = current
        var reader = ArgumentWords(words, declaration.options)
        while let word = reader.next() {
            switch word {
            case .positional(let text): positional.append(text)
            case .option(let option, let text): given.append((option, text))
            case .unfinished(let option): unfinished = option
            case .superfluous, .unknown: break
            }
        }
        endsOptions = reader.endsOptions
        for (argument, text) in zip(form.arguments, arguments) { given.append((argument, text)) }
    }

    /// The form that the first word names, or else the one without such a word.
    private var form: CommandForm {
        declaration.forms.first { $0.keyword != nil && $0.keyword == positional.first } ?? declaration.forms.first { $0.keyword == nil }
            ?? declaration.forms[0]
    }

    private var arguments: [String] { Array(positional.dropFirst(form.keyword == nil ? 0 : 1)) }

    var completion: Completion {
        if let unfinished { return value(of: unfinished, current) }
        guard !endsOptions, current.hasPrefix("-") else { return argument }
        guard let equals = current.firstIndex(of: "=") else { return Self.choose(options, current) }
        guard let option = declaration.options.first(where: { $0.isNamed(current[..<equals]) }), !option.isFlag else { return .words([]) }
        guard case .words(let found) = value(of: option, String(current[current.index(after: equals)...])) else {
            return value(of: option, "")
        }
        return .words(found.map { Completion.Candidate(word: current[...equals] + $0.word, meaning: $0.meaning) })
    }

    static func choose(_ candidates: [Completion.Candidate], _ start: String) -> Completion {
        .words(candidates.filter { $0.word.hasPrefix(start) })
    }

    // MARK: Parts of the line

    private var options: [Completion.Candidate] {
        let isUsed = { (option: ParameterDeclaration) in !option.isRepeated && given.contains { $0.parameter.name == option.name } }
        return form.options.filter { !isUsed($0) }.map { Completion.Candidate(word: $0.title, meaning: $0.meaning) }
            + [Completion.Candidate(word: "--help", meaning: "this text")]
    }

    private var argument: Completion {
        let keywords = positional.isEmpty ? declaration.forms.compactMap { form in form.keyword.map { ($0, form.meaning) } } : []
        let candidates = keywords.map(Completion.Candidate.init)
        let last = form.arguments.last
        let next = arguments.count < form.arguments.count ? form.arguments[arguments.count] : last?.isRepeated == true ? last : nil
        // A shell that is given words looks for no files, so a keyword is offered where it has begun.
        if !current.isEmpty, case .words(let found) = Self.choose(candidates, current), !found.isEmpty { return .words(found) }
        guard let next else { return Self.choose(candidates, current) }
        return value(of: next, current)
    }

    private func value(of parameter: ParameterDeclaration, _ start: String) -> Completion {
        let names = CompletionNames(given)
        switch parameter.kind {
        case .choice(let words): return Self.choose(words.map { Completion.Candidate(word: $0, meaning: "") }, start)
        case .folder: return .folders
        case let kind where kind.isPath: return .files
        case .command: return Completion.of([start])
        case .entity: return Self.choose(names.entities, start)
        case .attributes: return Self.choose(names.properties(start, isOrder: false), start)
        case .orders: return Self.choose(names.properties(start, isOrder: true), start)
        default: return .words([])
        }
    }
}
