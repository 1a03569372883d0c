import Foundation
import Testing

@testable import HeartwoodTool

/// What is true of the declaration of each command, and of each option in it.
@Suite struct DeclarationTests {
    private static var commands: [any Command.Type] { HeartwoodTool.commands + [CompleteCommand.self] }
    private static let names = commands.map { $0.name }

    private static func command(_ name: String) throws -> any Command.Type { try #require(commands.first { $0.name == name }) }

    /// What a command asks for beyond the rules that it declares.
    private static let more: [String: [String]] = [
        "diff": ["--from", "1"], "export": ["--all"], "convert": ["-o", "new.heartwood"], "backup prune": ["--keep-last", "3"],
        "update": ["--where", "TRUEPREDICATE"], "delete": ["--where", "TRUEPREDICATE"],
    ]
    /// The same for one option, in place of that.
    private static let moreOfOption: [String: [String]] = [
        "convert --dry-run": [], "convert NEW": [], "convert --output": [], "diff --from": [], "diff COPY": [], "export --all": [],
        "export --entity": [], "export --where": ["--entity", "Package"], "export --sort": ["--entity", "Package"],
        "export --limit": ["--entity", "Package"], "export --format": ["--entity", "Package", "-o", "x.sqlite"],
        "export --plain": ["--format", "sqlite", "-o", "x.sqlite"], "export --output": ["--format", "sqlite"],
        "report --diff": ["--from", "1"], "backup prune --keep-last": ["--keep-daily", "1"],
        "export --select": ["--entity", "Package"], "update --where": [], "update --all": [], "delete --where": [], "delete --all": [],
    ]

    /// The words of a form with what it must have, and with an option or an argument beside it.
    private static func words(_ name: String, _ form: CommandForm, _ parameter: ParameterDeclaration?, _ text: String) -> [String] {
        let key = name + (form.keyword.map { " \($0)" } ?? "")
        var words = form.keyword.map { [$0] } ?? []
        for argument in form.arguments where argument.isRequired || argument.name == parameter?.name {
            words.append(argument.name == parameter?.name ? text : ParameterSamples.good(argument.kind)[0])
        }
        let needed = form.rules.filter { $0.kind == .needs && $0.parameter.name == parameter?.name }.flatMap(\.others)
        for option in form.options.filter(\.isRequired) + needed where option.name != parameter?.name {
            words += [option.title] + (option.isFlag ? [] : [ParameterSamples.good(option.kind)[0]])
        }
        words += parameter.flatMap { moreOfOption["\(key) \($0.title)"] } ?? more[key] ?? []
        if needed.contains(where: { $0.title == "--diff" }), parameter?.title != "--from" { words += ["--from", "1"] }
        guard let parameter, !parameter.isArgument else { return words }
        return words + [parameter.title] + (parameter.isFlag ? [] : [text])
    }

    /// - Returns: the error of usage; nil if the command takes the words.
    private static func fault(_ command: any Command.Type, _ words: [String]) -> String? {
        do {
            _ = try command.init(Arguments(words, command.declaration))
            return nil
        } catch ToolError.usage(let text) {
            return text
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: names)
    func `Each option and argument of a command takes values of its type and refuses others`(name: String) throws {
        let command = try Self.command(name)
        for form in command.declaration.forms {
            #expect(Self.fault(command, Self.words(name, form, nil, "")) == nil, "\(Self.words(name, form, nil, ""))")
            for parameter in form.arguments + form.options {
                for text in ParameterSamples.good(parameter.kind) {
                    // The whole store as an SQLite file goes with no entity, and lines with no file.
                    if name == "export", parameter.name == "format" {
                        #expect(Self.fault(command, ["a", "--format", text] + (text == "sqlite" ? ["-o", "x"] : ["--entity", "E"])) == nil)
                        continue
                    }
                    let words = Self.words(name, form, parameter, text)
                    #expect(Self.fault(command, words) == nil, "\(name) \(words)")
                }
                for text in ParameterSamples.bad(parameter.kind) {
                    let words = Self.words(name, form, parameter, text), fault = Self.fault(command, words)
                    let isNamed = [.predicate, .request].contains(parameter.kind) || fault?.contains(parameter.title) ?? false
                    #expect(fault != nil && isNamed, "\(name) \(words): \(fault ?? "no fault")")
                }
            }
        }
    }

    @Test(arguments: names)
    func `An option takes its value behind a sign of equality too, and its form is told when it has none`(name: String) throws {
        let command = try Self.command(name)
        for form in command.declaration.forms {
            for option in form.options {
                let base = Self.words(name, form, nil, "")
                if option.isFlag {
                    #expect(Self.fault(command, base + ["\(option.title)=1"]) == "\(option.title) takes no value")
                } else {
                    #expect(Self.fault(command, base + [option.title]) == "\(option.title) needs a value")
                    let words = Self.words(name, form, option, ParameterSamples.good(option.kind)[0])
                    let joined = words.dropLast(2) + ["\(option.title)=\(words[words.count - 1])"]
                    #expect(name == "export" && option.name == "format" || Self.fault(command, Array(joined)) == nil, "\(joined)")
                    if let letter = option.letter {
                        #expect(Self.fault(command, words.dropLast(2) + ["-\(letter)", words[words.count - 1]]) == nil)
                    }
                }
            }
        }
    }

    @Test(arguments: names)
    func `What a command requires and excludes is checked before anything is done`(name: String) throws {
        let command = try Self.command(name)
        func given(_ parameter: ParameterDeclaration) -> [String] {
            parameter.isArgument ? [] : [parameter.title] + (parameter.isFlag ? [] : [ParameterSamples.good(parameter.kind)[0]])
        }
        for form in command.declaration.forms {
            let required = form.arguments.filter(\.isRequired)
            for count in 0..<required.count {
                let words = (form.keyword.map { [$0] } ?? []) + required.prefix(count).map { ParameterSamples.good($0.kind)[0] }
                // The keyword of a form is an argument where nothing follows.
                guard form.keyword == nil || count > 0 else { continue }
                #expect(Self.fault(command, words) == "\(required[count].name) is missing", "\(words)")
            }
            for option in form.options where option.isRequired {
                let words = form.arguments.filter(\.isRequired).map { ParameterSamples.good($0.kind)[0] } + (Self.more[name] ?? [])
                #expect(Self.fault(command, words)?.hasSuffix("is missing") == true, "\(option.title)")
            }
            for rule in form.rules where !rule.parameter.isArgument {
                let words = (form.keyword.map { [$0] } ?? []) + required.map { ParameterSamples.good($0.kind)[0] }
                for other in rule.others where !other.isArgument {
                    let both = words + given(rule.parameter) + (rule.kind == .excludes ? given(other) : [])
                    let fault = Self.fault(command, both)
                    #expect(fault?.contains(rule.kind == .needs ? "needs \(other.title)" : "exclude each other") == true, "\(both): \(fault ?? "-")")
                }
            }
            if form.arguments.last?.isRepeated != true {
                let words = (form.keyword.map { [$0] } ?? []) + form.arguments.map { ParameterSamples.good($0.kind)[0] }
                #expect(Self.fault(command, words + ["extra"]) == "\"extra\" is one argument too many")
            }
        }
    }

    @Test(arguments: names)
    func `A command names each option once, and says what it does in a sentence`(name: String) throws {
        let declaration = try Self.command(name).declaration
        #expect(declaration.summary.hasSuffix(".") && declaration.summary.first?.isUppercase == true)
        #expect(!declaration.exits.isEmpty && !declaration.examples.isEmpty)
        for form in declaration.forms {
            let names = (form.arguments + form.options).map(\.title)
            #expect(Set(names).count == names.count, "\(names)")
            for option in form.options {
                #expect(!option.meaning.hasSuffix(".") && !option.meaning.isEmpty, "\(option.title)")
                #expect(option.isFlag == (option.placeholder == nil), "\(option.title)")
            }
        }
        // Forms may share an option, and mean the same by it.
        for option in declaration.forms.flatMap(\.options) {
            #expect(declaration.options.contains { $0.name == option.name && $0.meaning == option.meaning })
        }
    }

    @Test(arguments: names)
    func `The examples of a command are lines that it takes`(name: String) throws {
        let declaration = try Self.command(name).declaration
        for example in declaration.examples {
            let words = Self.shellWords(example.line)
            #expect(words.first == name)
            #expect(throws: Never.self, "\(example.line)") { try Arguments(Array(words.dropFirst()), declaration) }
        }
    }

    /// The words that a shell gives a program: up to a pipe or a redirection, without quotes.
    private static func shellWords(_ line: String) -> [String] {
        var words: [String] = [], word: String?, quote: Character?, isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + [character]
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + [character] }
            } else if "'\"".contains(character) {
                quote = character
                word = word ?? ""
            } else if "|>".contains(character) {
                break
            } else if character == " " {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + [character]
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    @Test
    func `Options of one name mean the same in all commands, as far as they can`() {
        let outputs = Self.commands.flatMap { $0.declaration.options }.filter { $0.letter == "o" }
        #expect(outputs.count > 5)
        #expect(outputs.allSatisfy { $0.name == "output" && $0.kind.isPath })
        let formats = Self.commands.flatMap { $0.declaration.options }.filter { $0.name == "format" }
        #expect(formats.count > 4)
        for case .choice(let words) in formats.map(\.kind) { #expect(Set(words).count == words.count) }
    }
}
