import Heartwood

extension Parameter where Value == Bool {
    static func flag(_ name: String, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: name, kind: .flag, meaning: meaning)) { _, texts in !texts.isEmpty }
    }
}

extension Parameter where Value == String? {
    static func text(_ name: String, _ placeholder: String, _ meaning: String) -> Parameter { text(name, placeholder, .text, meaning) }

    static func text(_ name: String, _ placeholder: String, _ kind: ValueKind, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: name, placeholder: placeholder, kind: kind, meaning: meaning)) { _, text in text }
    }

    /// An argument; `required()` is one that may not be left out.
    static func argument(_ name: String, _ kind: ValueKind, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: name, kind: kind, meaning: meaning, isArgument: true)) { _, text in text }
    }

    /// The option of all commands that says where the output goes.
    static func output(_ placeholder: String, _ kind: ValueKind, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: "output", letter: "o", placeholder: placeholder, kind: kind, meaning: meaning)) { _, text in text }
    }
}

extension Parameter where Value == Int? {
    static func integer(_ name: String, placeholder: String = "N", from minimum: Int = 0, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: name, placeholder: placeholder, kind: .integer(from: minimum), meaning: meaning)) { title, text in
            guard let number = Int(text), number >= minimum else {
                throw ToolError.usage("\(title) takes a whole number of at least \(minimum), not \"\(text)\"")
            }
            return number
        }
    }
}

extension Parameter {
    /// An option that takes one of the words that a type's cases are.
    static func choice<Choice>(_ name: String, _ type: Choice.Type, _ meaning: String) -> Parameter
    where Value == Choice?, Choice: RawRepresentable & CaseIterable & Sendable, Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        let declaration = ParameterDeclaration(
            name: name, placeholder: words.joined(separator: "|"), kind: .choice(words), meaning: meaning)
        return Parameter(declaration) { title, text in
            guard let choice = Choice(rawValue: text) else {
                throw ToolError.usage("\(title) is \(Self.list(words)), not \"\(text)\"\(Spelling.suggestion(for: text, among: words))")
            }
            return choice
        }
    }

    private static func list(_ words: [String]) -> String {
        words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
    }
}

extension Parameter where Value == NSPredicate? {
    static func predicate(_ name: String, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: name, placeholder: "PREDICATE", kind: .predicate, meaning: meaning)) { _, text in
            try QueryText.predicate(text)
        }
    }
}
