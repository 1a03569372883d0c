import HeartwoodSwiftText

/// The parts of a model's expansion that have a line for each persisted property.
struct SchemaText {
    let text: SwiftText
    let model: String
    let items: [ModelLayout.Item]

    private static let schema = "HeartwoodSwiftData.Schema"

    // MARK: Metadata

    /// The class's own entries, properties before constraints. Each is a statement of its own: so `#if` can be around it, and the compiler checks
    /// the types of one at a time.
    func metadata(head: String, base: String?) -> String {
        var entries = itemLines(items) { item in
            guard case .property(let property, _) = item else { return nil }
            return entry(property)
        }
        entries += itemLines(items) { item in
            guard case .constraint(let constraint) = item else { return nil }
            return entry(constraint)
        }
        // The compiler warns of a variable that nothing changes.
        let start = "\(entries.isEmpty ? "let" : "var") properties: [\(Self.schema).PropertyMetadata]"
        let lines = ["\(head) {", "    \(start) = \(base == nil ? "[]" : "super.schemaMetadata")"] + entries + ["    return properties", "}"]
        return lines.joined(separator: "\n")
    }

    /// A line for each item that has one, under the `#if` of its source.
    private func itemLines(_ items: [ModelLayout.Item], _ line: (ModelLayout.Item) -> String?) -> [String] {
        items.flatMap { item -> [String] in
            guard case .conditional(let clauses, _) = item else { return line(item).map { [$0] } ?? [] }
            let inner = clauses.map { itemLines($0.items, line) }
            guard inner.contains(where: { !$0.isEmpty }) else { return [] }
            return zip(clauses, inner).flatMap { [$0.directive] + $1 } + ["#endif"]
        }
    }

    private func entry(_ property: SwiftProperty) -> String {
        var value = "nil"
        if let initial = property.initial {
            value = text.string(initial)
            if let type = property.type { value = "(\(value) as \(WrittenType(text.string(type)).inExpression))" }
        }
        return append(name: property.plainName, keypath: "\(model).\(property.name)", value: value, metadata: metadata(of: property))
    }

    private func metadata(of property: SwiftProperty) -> String {
        let attributes = property.attributes.filter { ["Attribute", "Relationship"].contains($0.lastName) }
        guard let attribute = attributes.first(where: { $0.lastName == "Relationship" }) ?? attributes.first else { return "nil" }
        return "\(Self.schema).\(attribute.lastName)(\(attribute.arguments.map(text.string) ?? ""))"
    }

    private func entry(_ constraint: SwiftFreestanding) -> String {
        let generics = constraint.generics.map(text.string) ?? "<\(model)>"
        let metadata = "\(Self.schema).\(constraint.name)\(generics)(\(constraint.arguments.map(text.string) ?? ""))"
        return append(name: "SwiftData.Schema.\(constraint.name)", keypath: "\(Self.schema).encodingVersion", value: "nil", metadata: metadata)
    }

    private func append(name: String, keypath: String, value: String, metadata: String) -> String {
        "    properties.append(\(Self.schema).PropertyMetadata("
            + "name: \"\(name)\", keypath: \\\(keypath), defaultValue: \(value), metadata: \(metadata)))"
    }

    // MARK: Initializer

    /// The marks of properties that backing data has the values of.
    var unsetValues: [String] {
        itemLines(items) { item in
            guard case .property(let property, _) = item else { return nil }
            return "    \(PersistedProperty.mark(of: property)) = _SwiftDataNoType()"
        }
    }

    // MARK: Positions

    /// The position of each property among the class's own. After an `#if` the positions go on from what the chosen clause ends with.
    var positions: String {
        var next = Next()
        return (["private enum _$Position {"] + positions(items, &next) + ["}"]).joined(separator: "\n")
    }

    private struct Next {
        /// A name for the number of properties before, with a plus sign.
        var base = ""
        var count = 0
        var conditionals = 0
        var expression: String { base + String(count) }
    }

    private func positions(_ items: [ModelLayout.Item], _ next: inout Next) -> [String] {
        var lines: [String] = []
        for item in items {
            switch item {
            case .constraint: break
            case .property(let property, _):
                lines.append("    @inline(__always) static var \(PersistedProperty.mark(of: property)): Int { \(next.expression) }")
                next.count += 1
            case .conditional(let clauses, let hasElse):
                next.conditionals += 1
                let end = "_$end\(next.conditionals)"
                func ending(_ count: String) -> String { "    @inline(__always) static var \(end): Int { \(count) }" }
                for clause in clauses {
                    var inner = next
                    lines.append(clause.directive)
                    lines += positions(clause.items, &inner)
                    lines.append(ending(inner.expression))
                    next.conditionals = inner.conditionals
                }
                if !hasElse { lines += ["#else", ending(next.expression)] }
                lines.append("#endif")
                (next.base, next.count) = (end + " + ", 0)
            }
        }
        return lines
    }
}
