import Heartwood

/// A model as a Mermaid class diagram, for documents that render it.
/// Source: https://mermaid.js.org/syntax/classDiagram.html
enum ModelMermaid {
    static func text(_ loaded: LoadedModel) -> String {
        var lines = ["classDiagram"]
        for entity in loaded.entities {
            let attributes = entity.ownProperties.compactMap { $0 as? NSAttributeDescription }
            let body = (entity.isAbstract ? ["<<abstract>>"] : []) + attributes.map { attribute in
                "\(word(attribute.attributeType.modelFileName)) \(word(attribute.name))\(attribute.isOptional ? "" : "*")"
            }
            lines.append(body.isEmpty ? "    class \(word(entity.title))" : "    class \(word(entity.title)) {")
            lines += body.map { "        \($0)" }
            if !body.isEmpty { lines.append("    }") }
        }
        for entity in loaded.entities {
            if let parent = entity.superentity { lines.append("    \(word(parent.title)) <|-- \(word(entity.title))") }
            for relationship in entity.ownRelationships where relationship.isDrawn {
                let destination = word(relationship.destinationEntity?.title ?? "?")
                guard let inverse = relationship.inverseRelationship else {
                    lines.append(
                        "    \(word(entity.title)) --> \"\(relationship.multiplicity)\" \(destination) : \(word(relationship.name))")
                    continue
                }
                lines.append(
                    "    \(word(entity.title)) \"\(inverse.multiplicity)\" -- \"\(relationship.multiplicity)\" \(destination) : "
                        + (inverse === relationship ? word(relationship.name) : "\(word(relationship.name)) / \(word(inverse.name))"))
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Replaces the characters that Mermaid does not allow in a name.
    private static func word(_ text: String) -> String {
        String(text.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
    }
}
