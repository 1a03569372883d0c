/// An option or an argument of a command: its declaration, and how its texts become a value.
///
/// A command declares each one as a constant, lists it in its declaration, and reads its value by the constant: a name is written once.
struct Parameter<Value>: DeclaredParameter {
    private(set) var declaration: ParameterDeclaration
    /// From the texts that a command line gives, none if it gives none.
    fileprivate let read: @Sendable (ParameterDeclaration, [String]) throws -> Value

    init(_ declaration: ParameterDeclaration, reading: @escaping @Sendable (ParameterDeclaration, [String]) throws -> Value) {
        self.declaration = declaration
        read = reading
    }

    /// A parameter whose value is read from one text, and is nil without one.
    /// - Parameter read: from the title, for its errors, and the text.
    init<Wrapped>(_ declaration: ParameterDeclaration, _ read: @escaping @Sendable (String, String) throws -> Wrapped) where Value == Wrapped? {
        self.init(declaration) { declaration, texts in try texts.last.map { try read(declaration.title, $0) } }
    }

    /// - Throws: an error of usage.
    func value(_ texts: [String]) throws -> Value { try read(declaration, texts) }
}

/// A parameter of any type of values.
protocol DeclaredParameter: Sendable {
    var declaration: ParameterDeclaration { get }
}

extension DeclaredParameter {
    /// As errors name it.
    var title: String { declaration.title }
}

// MARK: Without a value

extension Parameter {
    /// The same with a value for a command line that gives none.
    /// - Parameter shown: the value as help shows it.
    func or<Wrapped>(_ value: Wrapped, shown: String? = nil) -> Parameter<Wrapped> where Value == Wrapped?, Wrapped: Sendable {
        var changed = declaration
        changed.fallback = shown ?? "\(value)"
        let read = read
        return Parameter<Wrapped>(changed) { try read($0, $1) ?? value }
    }

    /// The same as an argument, of which a usage line shows the name alone.
    var asArgument: Parameter {
        var changed = declaration
        changed.isArgument = true
        changed.placeholder = nil
        return Parameter(changed, reading: read)
    }

    /// The same that has to be given.
    func required<Wrapped>() -> Parameter<Wrapped> where Value == Wrapped? {
        var changed = declaration
        changed.isRequired = true
        let read = read
        return Parameter<Wrapped>(changed) { declaration, texts in
            guard let value = try read(declaration, texts) else { throw ToolError.usage("\(declaration.title) is missing") }
            return value
        }
    }

    /// The same of which at least one has to be given.
    func required<Element>() -> Parameter where Value == [Element] {
        var changed = declaration
        changed.isRequired = true
        let read = read
        return Parameter(changed) { declaration, texts in
            guard !texts.isEmpty else { throw ToolError.usage("\(declaration.title) is missing") }
            return try read(declaration, texts)
        }
    }

    /// The same that may stand several times, of which each value counts.
    func repeated<Wrapped>() -> Parameter<[Wrapped]> where Value == Wrapped? {
        var changed = declaration
        changed.isRepeated = true
        let read = read
        return Parameter<[Wrapped]>(changed) { declaration, texts in try texts.compactMap { try read(declaration, [$0]) } }
    }

    /// The same with a meaning of its own, for a command of which it asks something else.
    func meaning(_ text: String) -> Parameter {
        var changed = declaration
        changed.meaning = text
        return Parameter(changed, reading: read)
    }
}
