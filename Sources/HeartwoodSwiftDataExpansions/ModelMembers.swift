import HeartwoodSwiftText

/// What `@Model` becomes: members of the class, an attribute for each persisted property, and extensions.
struct ModelMembers {
    private let text: SwiftText
    private let type: SwiftType
    private let layout: ModelLayout
    /// The class that this one inherits from, if that is a model.
    private let base: String?

    // MARK: The roles

    static func expand(_ declaration: SyntaxNode, conformances: String?) -> Answer {
        let text = SwiftText(bytes: declaration.bytes)
        var reader = DeclarationReader(text)
        guard let type = reader.type() else {
            return Answer(diagnostics: [declaration.diagnostic("@Model requires a class", at: text.tokens.first?.start ?? 0)])
        }
        let start = text.tokens[type.first].start
        guard type.keyword == "class" else {
            let message = "'@Model' cannot be applied to \(type.keyword) type '\(type.name)'"
            return Answer(source: "", diagnostics: [declaration.diagnostic(message, at: start)])
        }
        let layout = ModelLayout(type.members, in: text)
        var diagnostics = layout.faults.map { declaration.diagnostic($0.message, at: $0.byte) }
        if type.generics != nil {
            let message = "'@Model' cannot be applied to generic class '\(type.name)': an entity has one class"
            diagnostics.insert(declaration.diagnostic(message, at: start), at: 0)
        }
        if !layout.hasInitializer {
            let message = "@Model requires an initializer be provided for '\(type.name)'"
            diagnostics.insert(declaration.diagnostic(message, at: start), at: 0)
        }
        let members = ModelMembers(text: text, type: type, layout: layout, base: base(of: type, conformances: conformances))
        return Answer(source: members.source, diagnostics: diagnostics)
    }

    /// The compiler leaves out of the list what the class has already: a subclass of a model has all.
    private static func base(of type: SwiftType, conformances: String?) -> String? {
        let protocols: Set<String> = ["PersistentModel", "Observable", "Sendable", "Hashable", "Equatable", "Identifiable", "Codable"]
        guard conformances?.contains("PersistentModel") != true, let first = type.inherited.first,
            let last = first.split(separator: ".").last, !protocols.contains(String(last)), !first.hasPrefix("@")
        else { return nil }
        return first
    }

    /// The attribute that a member of a model gets.
    static func attribute(for declaration: SyntaxNode) -> String {
        let text = SwiftText(bytes: declaration.bytes)
        var reader = DeclarationReader(text)
        guard let property = reader.properties().first, case .persisted(let isTransformable) = PersistenceJudgement(property, in: text),
            !property.attributes.contains(where: { ["_PersistedProperty", "_TransformablePersistedProperty"].contains($0.lastName) })
        else { return "" }
        return isTransformable ? "@HeartwoodSwiftData._TransformablePersistedProperty" : "@HeartwoodSwiftData._PersistedProperty"
    }

    static func extensions(_ declaration: SyntaxNode, _ request: Message) -> Answer {
        guard DeclarationReader.keyword(of: declaration.bytes) == "class", let type = request["extendedTypeSyntax"]?["source"]?.string,
            let wanted = request["conformanceListSyntax"]?["source"]?.string
        else { return Answer(source: "") }
        var lines: [String] = []
        if wanted.contains("PersistentModel") { lines.append("extension \(type): HeartwoodSwiftData.PersistentModel {}") }
        if wanted.contains("Observable") { lines.append("extension \(type): Observation.Observable {}") }
        if wanted.contains("Sendable") {
            let name = type.split(separator: ".").last.map(String.init) ?? type
            let message = "PersistentModels are not Sendable, consider utilizing a ModelActor or use \(name)'s persistentModelID instead"
            lines.append("@available(swift, deprecated: 5.9, message: \"\(message)\")")
            lines.append("@available(*, unavailable, message: \"\(message)\")")
            lines.append("extension \(type): Sendable {}")
        }
        return Answer(source: lines.joined(separator: "\n"))
    }

    // MARK: Members

    private var source: String {
        var parts = [storage]
        if base == nil {
            parts.append(
                """
                public var persistentBackingData: any HeartwoodSwiftData.BackingData<\(type.name)> {
                    get { _$backingData }
                    set { _$backingData.adopt(newValue) }
                }
                """)
        }
        let schema = SchemaText(text: text, model: type.name, items: layout.items)
        let head = overridable("var schemaMetadata: [HeartwoodSwiftData.Schema.PropertyMetadata]", isClass: true)
        parts.append(schema.metadata(head: head, base: base))
        parts.append(initializer(schema))
        parts.append(overridable("func _$storages() -> [HeartwoodSwiftData.ModelStorage]", isClass: false)
            + " { \(base == nil ? "" : "super._$storages() + ")[_$backingData] }")
        parts.append(observation)
        // Initializers of users' code set marks too.
        parts.append("struct _SwiftDataNoType {}")
        parts.append(schema.positions)
        if layout.hasObservers {
            // A value that an observer sets is not observed again, as in any Swift class.
            parts.append("@HeartwoodSwiftData.Transient private var _$observed: [Int] = []")
        }
        return parts.joined(separator: "\n\n")
    }

    private var storage: String {
        "@HeartwoodSwiftData.Transient private let _$backingData = HeartwoodSwiftData.DefaultBackingData<\(type.name)>()"
    }

    private func overridable(_ head: String, isClass: Bool) -> String {
        // Public also in a class that is not: it costs nothing, and the class may be public by the extension around it, which no macro sees.
        (type.has("open") ? "open " : "public ") + (base == nil ? "" : "override ") + (isClass ? "class " : "") + head
    }

    private func initializer(_ schema: SchemaText) -> String {
        let required = type.has("final") && base == nil ? "" : "required "
        // The root's class, whatever the number of classes between.
        let root = base.map { "\($0).Root" } ?? type.name
        var lines = ["\(required)public init(backingData: any HeartwoodSwiftData.BackingData<\(root)>) {"]
        lines += schema.unsetValues
        if base != nil { lines.append("    super.init(backingData: backingData)") }
        lines.append("    _$backingData.adopt(backingData)")
        lines.append("}")
        return lines.joined(separator: "\n")
    }

    private var observation: String {
        """
        @HeartwoodSwiftData.Transient private var _$observationRegistrar: Observation.ObservationRegistrar { _$backingData.observationRegistrar }

        internal nonisolated func access<_M>(keyPath: KeyPath<\(type.name), _M>) {
            _$backingData.access(self, keyPath)
        }

        internal nonisolated func withMutation<_M, _MR>(keyPath: KeyPath<\(type.name), _M>, _ mutation: () throws -> _MR) rethrows -> _MR {
            try _$backingData.withMutation(of: self, keyPath, mutation)
        }
        """
    }
}
