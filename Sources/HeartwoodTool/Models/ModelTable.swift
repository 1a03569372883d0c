import Foundation
import Heartwood

/// Formats a model as a table for people.
enum ModelTable {
    static func lines(_ loaded: LoadedModel) -> [String] {
        let entities = loaded.entities
        let own = entities.map(\.ownProperties)
        let attributes = own.joined().count { $0 is NSAttributeDescription }
        let relationships = own.joined().count { $0 is NSRelationshipDescription }
        var lines = [
            "\(loaded.name): \(Output.count(entities.count, "entity", "entities")), \(Output.count(attributes, "attribute")), "
                + Output.count(relationships, "relationship"),
        ]
        let identifiers = loaded.model.versionIdentifiers.compactMap { $0 as? String }.sorted()
        if !identifiers.isEmpty { lines.append("version \(identifiers.joined(separator: ", "))") }
        for (entity, properties) in zip(entities, own) {
            lines.append("")
            lines.append(heading(entity))
            lines += columns(properties.map { [$0.name, type($0), remarks($0).joined(separator: ", ")] })
            lines += notes(entity)
        }
        for name in loaded.model.fetchRequestTemplatesByName.keys.sorted() {
            let request = loaded.model.fetchRequestTemplate(forName: name)
            lines.append("")
            let condition = request?.predicate.map { " where \($0.predicateFormat)" } ?? ""
            lines.append("fetch request \(name): \(request?.entityName ?? "?")\(condition)")
        }
        for name in loaded.model.configurations {
            let members = (loaded.model.entities(forConfigurationName: name) ?? []).map(\.title).sorted()
            lines.append("")
            lines.append("configuration \(name): \(members.joined(separator: ", "))")
        }
        return lines
    }

    private static func heading(_ entity: NSEntityDescription) -> String {
        var parts: [String] = []
        if entity.isAbstract { parts.append("abstract") }
        if let parent = entity.superentity { parts.append("inherits from \(parent.title)") }
        if let name = entity.managedObjectClassName, name != entity.name, name != "NSManagedObject" { parts.append("class \(name)") }
        if let old = entity.declaredRenamingIdentifier { parts.append("was \(old)") }
        return entity.title + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
    }

    /// Aligns all columns but the last.
    private static func columns(_ rows: [[String]]) -> [String] {
        let widths = (0..<2).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = (0..<2).map { row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count) }
            let line = "  " + (padded + [row[2]]).joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func type(_ property: NSPropertyDescription) -> String {
        switch property {
        case let attribute as NSAttributeDescription: return attribute.typeTitle
        case let relationship as NSRelationshipDescription:
            return "-> \(relationship.destinationEntity?.title ?? "?") \(relationship.multiplicity)"
        case let fetched as NSFetchedPropertyDescription: return "fetches \(fetched.fetchRequest?.entityName ?? "?")"
        default: return ""
        }
    }

    static func remarks(_ property: NSPropertyDescription) -> [String] {
        var parts: [String] = []
        switch property {
        case let attribute as NSAttributeDescription:
            if !attribute.isOptional { parts.append("required") }
            if let value = attribute.defaultValue { parts.append("default \(value as? String == "" ? "\"\"" : ValueText.of(value))") }
            if let derived = (attribute as? NSDerivedAttributeDescription)?.derivationExpression { parts.append("= \(derived)") }
            if attribute.allowsExternalBinaryDataStorage { parts.append("stored apart") }
            if let transformer = attribute.valueTransformerName { parts.append("by \(transformer)") }
            parts += attribute.validationPredicates.map(\.predicateFormat)
        case let relationship as NSRelationshipDescription:
            if let inverse = relationship.inverseRelationship { parts.append("inverse \(inverse.name)") }
            if relationship.isOrdered { parts.append("ordered") }
            parts.append(relationship.ruleTitle)
        case let fetched as NSFetchedPropertyDescription:
            if let predicate = fetched.fetchRequest?.predicate { parts.append("where \(predicate.predicateFormat)") }
        default: break
        }
        if property.isTransient, !(property is NSFetchedPropertyDescription) { parts.append("transient") }
        if let old = property.declaredRenamingIdentifier { parts.append("was \(old)") }
        return parts
    }

    private static func notes(_ entity: NSEntityDescription) -> [String] {
        entity.constraintNames.map { "  unique \($0.joined(separator: ", "))" }
            + entity.indexes.map { "  index \($0.name): \($0.elementTitles)" }
    }
}
