import Foundation
import Heartwood

/// The changes from one version of a model to another, and whether a migration can be inferred from the two.
struct ModelDifference {
    struct Change {
        /// "+", "-" or "~".
        let sign: String
        let element: String
        let text: String
        /// The reason why no migration can be inferred for this change; nil if one can.
        let obstacle: String?
    }

    private(set) var changes: [Change] = []
    let isSameVersion: Bool
    private let comparison: ModelComparison

    var obstacles: [Change] { changes.filter { $0.obstacle != nil } }

    init(from old: LoadedModel, to new: LoadedModel) {
        isSameVersion = old.model.versionChecksum == new.model.versionChecksum
        let comparison = ModelComparison(comparing: old.model, with: new.model)
        self.comparison = comparison
        let renamed = Dictionary(uniqueKeysWithValues: comparison.pairs.map { (ObjectIdentifier($0.source), $0.destination.title) })
        for entity in comparison.removed.sorted(by: { $0.title < $1.title }) { add("-", entity.title, "entity removed, with its objects") }
        for entity in new.entities {
            if let pair = comparison.pair(to: entity) { compare(pair, renamed) } else { add("+", entity.title, "entity added") }
        }
        // An obstacle is reported with the entity that states the property.
        for obstacle in comparison.obstacles {
            guard let entity = obstacle.entity, obstacle.property.map({ $0.holder === entity }) ?? true else { continue }
            let element = [entity.title, obstacle.property?.name].compactMap(\.self).joined(separator: ".")
            guard !changes.contains(where: { $0.element == element && $0.obstacle != nil }) else { continue }
            add("~", element, "cannot be taken over", obstacle: obstacle.reason.prefix(1).lowercased() + obstacle.reason.dropFirst())
        }
    }

    private mutating func add(_ sign: String, _ element: String, _ text: String, obstacle: String? = nil) {
        changes.append(Change(sign: sign, element: element, text: text, obstacle: obstacle))
    }

    // MARK: Entities

    private mutating func compare(_ pair: ModelComparison.EntityPair, _ renamed: [ObjectIdentifier: String]) {
        let old = pair.source, new = pair.destination, element = new.title
        if old.title != new.title { add("~", element, "renamed, was \(old.title)") }
        let parent = old.superentity.map { renamed[ObjectIdentifier($0)] ?? $0.title }
        if parent != new.superentity?.title {
            add("~", element, "moved in the hierarchy, from \(parent ?? "the top") to \(new.superentity?.title ?? "the top")")
        }
        if old.isAbstract != new.isAbstract {
            add(
                "~", element, new.isAbstract ? "became abstract" : "is not abstract any more",
                obstacle: new.isAbstract ? "no rule says what its objects become" : nil)
        }
        if old.versionHashModifier != new.versionHashModifier { add("~", element, "version hash modifier changed") }
        if old.managedObjectClassName != new.managedObjectClassName {
            add("~", element, "class \(new.managedObjectClassName ?? "none"), was \(old.managedObjectClassName ?? "none")")
        }
        // Inherited properties are compared in the entity that states them.
        for property in new.properties where property.holder === new {
            let element = "\(element).\(property.name)"
            if let match = pair.matches.first(where: { $0.destination === property }) {
                compare(match.source, property, element, renamed)
            } else if !(property is NSFetchedPropertyDescription) || !(old.propertiesByName[property.name] is NSFetchedPropertyDescription) {
                added(property, element)
            }
        }
        for property in old.properties where property.holder === old && !pair.matches.contains(where: { $0.source === property }) {
            if property is NSFetchedPropertyDescription, new.propertiesByName[property.name] is NSFetchedPropertyDescription { continue }
            add("-", "\(element).\(property.name)", "\(Self.kind(property)) removed")
        }
        compareConstraints(old, new)
    }

    private mutating func compareConstraints(_ old: NSEntityDescription, _ new: NSEntityDescription) {
        for constraint in new.constraintNames where !old.constraintNames.contains(constraint) {
            add("+", new.title, "unique \(constraint.joined(separator: ", ")): two objects with the same values would not pass")
        }
        for constraint in old.constraintNames where !new.constraintNames.contains(constraint) {
            add("-", new.title, "unique \(constraint.joined(separator: ", "))")
        }
        let before = Set(old.indexes.map(\.name)), after = Set(new.indexes.map(\.name))
        for name in after.subtracting(before).sorted() { add("+", new.title, "index \(name)") }
        for name in before.subtracting(after).sorted() { add("-", new.title, "index \(name)") }
    }

    // MARK: Properties

    private static func kind(_ property: NSPropertyDescription) -> String {
        switch property {
        case is NSAttributeDescription: "attribute"
        case is NSRelationshipDescription: "relationship"
        default: "fetched property"
        }
    }

    private mutating func added(_ property: NSPropertyDescription, _ element: String) {
        guard let attribute = property as? NSAttributeDescription else { return add("+", element, "\(Self.kind(property)) added") }
        let lacks = !attribute.isOptional && !attribute.isTransient && attribute.defaultValue == nil
            && !(attribute is NSCompositeAttributeDescription) && !(attribute is NSDerivedAttributeDescription)
        add(
            "+", element, "attribute added, \(attribute.typeTitle)\(attribute.isOptional ? "" : ", required")",
            obstacle: lacks ? "it is required, and without a default the objects that exist have no value for it" : nil)
    }

    private mutating func compare(
        _ old: NSPropertyDescription, _ new: NSPropertyDescription, _ element: String, _ renamed: [ObjectIdentifier: String]
    ) {
        guard Self.kind(old) == Self.kind(new) else {
            return add(
                "~", element, "\(Self.kind(new)), was \(Self.kind(old))",
                obstacle: ModelComparison.takesOver(old, new) ? nil : "no rule converts the values")
        }
        if old.name != new.name { add("~", element, "renamed, was \(old.name)") }
        if old.isTransient != new.isTransient { add("~", element, new.isTransient ? "became transient" : "is not transient any more") }
        if old.versionHashModifier != new.versionHashModifier { add("~", element, "version hash modifier changed") }
        if let old = old as? NSAttributeDescription, let new = new as? NSAttributeDescription {
            compare(old, new, element)
        } else if let old = old as? NSRelationshipDescription, let new = new as? NSRelationshipDescription {
            compare(old, new, element, renamed)
        }
    }

    private mutating func compare(_ old: NSAttributeDescription, _ new: NSAttributeDescription, _ element: String) {
        if old.typeTitle != new.typeTitle {
            let why = "\(old.typeTitle) does not become \(new.typeTitle) by itself"
            add("~", element, "\(new.typeTitle), was \(old.typeTitle)", obstacle: ModelComparison.takesOver(old, new) ? nil : why)
        }
        if old.isOptional != new.isOptional {
            let lacks = !new.isOptional && new.defaultValue == nil && !new.isTransient
            add(
                "~", element, new.isOptional ? "optional, was required" : "required, was optional",
                obstacle: lacks ? "it has no default for the objects without a value" : nil)
        }
        if "\(old.defaultValue ?? "none")" != "\(new.defaultValue ?? "none")" {
            add("~", element, "default \(new.defaultValue ?? "none"), was \(old.defaultValue ?? "none")")
        }
        let before = (old as? NSDerivedAttributeDescription)?.derivationExpression?.description
        let after = (new as? NSDerivedAttributeDescription)?.derivationExpression?.description
        if before != after { add("~", element, "derived from \(after ?? "nothing"), was from \(before ?? "nothing")") }
        let rules = (old.validationPredicates.map(\.predicateFormat), new.validationPredicates.map(\.predicateFormat))
        if rules.0 != rules.1 { add("~", element, "rules \(rules.1.joined(separator: ", ")), were \(rules.0.joined(separator: ", "))") }
        if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
            add("~", element, new.allowsExternalBinaryDataStorage ? "stored apart" : "not stored apart any more")
        }
    }

    private mutating func compare(
        _ old: NSRelationshipDescription, _ new: NSRelationshipDescription, _ element: String, _ renamed: [ObjectIdentifier: String]
    ) {
        let before = old.destinationEntity.map { renamed[ObjectIdentifier($0)] ?? $0.title } ?? "?"
        let after = new.destinationEntity?.title ?? "?"
        if before != after {
            add("~", element, "leads to \(after), was to \(before)\(isMoved(old, new) ? "; starts without objects" : "")")
        }
        if old.isToMany != new.isToMany {
            add(
                "~", element, new.isToMany ? "to-many, was to-one" : "to-one, was to-many",
                obstacle: ModelComparison.takesOver(old, new) ? nil : "no rule says which of several members is kept")
        } else if (old.minCount, old.maxCount) != (new.minCount, new.maxCount) || old.isOptional != new.isOptional {
            add("~", element, "\(new.multiplicity), was \(old.multiplicity)")
        }
        if old.isOrdered != new.isOrdered { add("~", element, new.isOrdered ? "ordered" : "not ordered any more") }
        if old.deleteRule != new.deleteRule { add("~", element, "delete rule \(new.ruleTitle), was \(old.ruleTitle)") }
        let inverses = (old.inverseRelationship?.name, new.inverseRelationship?.name)
        let isRenamed = new.inverseRelationship?.declaredRenamingIdentifier == inverses.0
        if inverses.0 != inverses.1, !isRenamed { add("~", element, "inverse \(inverses.1 ?? "none"), was \(inverses.0 ?? "none")") }
    }

    /// Whether the relationship's objects cannot stay its objects.
    private func isMoved(_ old: NSRelationshipDescription, _ new: NSRelationshipDescription) -> Bool {
        ModelComparison.takesOver(old, new) && !new.isTransient && !comparison.pairs.contains { $0.keeps(new) }
    }

    // MARK: Text

    /// A line for each change.
    var changeLines: [String] {
        let width = changes.map(\.element.count).max() ?? 0
        return changes.map { change in
            "\(change.sign) \(change.element)\(String(repeating: " ", count: width - change.element.count))  \(change.text)"
        }
    }

    var lines: [String] {
        guard !changes.isEmpty else {
            return [isSameVersion ? "The models are the same." : "The models have no listed differences."]
        }
        var lines = changeLines + [""]
        if isSameVersion {
            lines.append("Stores of either model open with the other unchanged: none of these changes affects how objects are stored.")
        } else if obstacles.isEmpty {
            lines.append("A migration can be inferred.")
        } else {
            lines.append("No migration can be inferred:")
            lines += obstacles.map { "  \($0.element): \($0.obstacle ?? "")" }
        }
        return lines
    }
}
