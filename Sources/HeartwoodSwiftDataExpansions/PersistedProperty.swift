import HeartwoodSwiftText

/// What `@_PersistedProperty` and `@_TransformablePersistedProperty` become: accessors over the class's backing data, and a mark of no size. The
/// mark lets the compiler see that initializers set each property.
enum PersistedProperty {
    /// The mark's name, in backticks where the property's name needs them with its underscore too.
    static func mark(of property: SwiftProperty) -> String {
        let name = "_" + property.plainName
        return name.utf8.allSatisfy(SwiftLexer.isWord) ? name : "`\(name)`"
    }

    static func peer(_ declaration: SyntaxNode) -> Answer {
        guard let (property, text) = read(declaration) else { return Answer(source: "") }
        var type = "_SwiftDataNoType"
        // As the property has nil where its type has it.
        if let last = property.type.map({ text.bytes[$0.upperBound - 1] }), !property.isConstant {
            if last == UInt8(ascii: "?") { type += "?" }
            if last == UInt8(ascii: "!") { type += "!" }
        }
        let initial = property.initial == nil ? "" : " = _SwiftDataNoType()"
        return Answer(source: "@HeartwoodSwiftData.Transient private var \(mark(of: property)): \(type)\(initial)")
    }

    private static func read(_ declaration: SyntaxNode) -> (SwiftProperty, SwiftText)? {
        let text = SwiftText(bytes: declaration.bytes)
        var reader = DeclarationReader(text)
        return reader.properties().first.map { ($0, text) }
    }

    // MARK: Accessors

    static func accessors(_ declaration: SyntaxNode, isTransformable: Bool) -> Answer {
        guard let (property, text) = read(declaration) else {
            return Answer(source: "", diagnostics: [declaration.diagnostic("@_PersistedProperty requires a variable", at: 0)])
        }
        let names = Names(property, isTransformable: isTransformable)
        var source = """
            {
                @storageRestrictions(accesses: _$backingData, initializes: \(names.mark))
                init(initialValue) {
                    _$backingData.\(isTransformable ? "initializeTransformable" : "initialize")(initialValue, at: \(names.position))
                    \(names.mark) = _SwiftDataNoType()
                }
                get { \(names.value) }

            """
        if !property.isConstant {
            if case .observers(let observers) = property.accessors {
                source += setter(names, observers, in: text)
            } else {
                source += "    set { \(names.set("newValue")) }\n"
            }
        }
        return Answer(source: source + "}")
    }

    private struct Names {
        let mark: String
        let position: String
        let value: String
        private let function: String
        private let rest: String

        init(_ property: SwiftProperty, isTransformable: Bool) {
            mark = PersistedProperty.mark(of: property)
            position = "_$Position.\(mark)"
            rest = "of: self, \\.\(property.name), at: \(position))"
            value = "_$backingData.\(isTransformable ? "transformableValue" : "value")(" + rest
            function = isTransformable ? "setTransformableValue" : "setValue"
        }

        func set(_ value: String) -> String { "_$backingData.\(function)(\(value), \(rest)" }
    }

    /// A setter that runs the observers' bodies. What a body sets itself runs none, as in a class without macros.
    private static func setter(_ names: Names, _ observers: [SwiftObserver], in text: SwiftText) -> String {
        var source = """
                set {
                    guard !_$observed.contains(\(names.position)) else {
                        \(names.set("newValue"))
                        return
                    }
                    _$observed.append(\(names.position))
                    defer { _$observed.removeAll { $0 == \(names.position) } }

            """
        for observer in observers where observer.isBefore {
            source += call(observer, parameter: observer.parameter ?? "newValue", value: "newValue", in: text)
        }
        let after = observers.filter { !$0.isBefore }
        // The old value is read only for a body that names it, as SE-0268 has it.
        let needsOld = after.contains { $0.parameter != nil || text.string($0.body).contains("oldValue") }
        if needsOld { source += "        let _$oldValue = \(names.value)\n" }
        source += "        \(names.set("newValue"))\n"
        for observer in after {
            source += call(observer, parameter: observer.parameter ?? "oldValue", value: needsOld ? "_$oldValue" : nil, in: text)
        }
        return source + "    }\n"
    }

    /// A function of its own, in which `return` ends the observer only, and the property's name is no use of the setter in itself.
    private static func call(_ observer: SwiftObserver, parameter: String, value: String?, in text: SwiftText) -> String {
        var lines = ["        do {"]
        if let value, value != parameter { lines += ["            let \(parameter) = \(value)", "            _ = \(parameter)"] }
        lines += ["            func _$observer() {\(text.string(observer.body))", "            }", "            _$observer()", "        }", ""]
        return lines.joined(separator: "\n")
    }
}
