import Foundation
import Heartwood

/// What changed from one version of a model to another, and whether a migration can be inferred from the two.
struct ModelDifference {
    struct Change {
        /// "+", "-" or "~".
        let sign: String
        let place: String
        let text: String
        /// Why no migration can be inferred where this changed; nil where one can.
        let obstacle: String?
    }

    private(set) var changes: [Change] = []
    let isSameVersion: Bool

    var obstacles: [Change] { changes.filter { $0.obstacle != nil } }

    init(from old: LoadedModel, to new: LoadedModel) {
        isSameVersion = old.model.versionChecksum == new.model.versionChecksum
        var taken: [ObjectIdentifier: String] = [:]
        var pairs: [(NSEntityDescription?, NSEntityDescription)] = []
        for entity in new.entities {
            let source = Self.source(of: entity.title, entity.renamingIdentifier, in: old.entities, \.title, \.renamingIdentifier)
            if let source, let other = taken[ObjectIdentifier(source)] {
                add(
                    "~", entity.title, "comes from \(source.title)",
                    obstacle: "\(source.title) becomes \(other) as well, and a mapping takes an entity once")
                continue
            }
            if let source { taken[ObjectIdentifier(source)] = entity.title }
            pairs.append((source, entity))
        }
        for entity in old.entities where taken[ObjectIdentifier(entity)] == nil {
            add("-", entity.title, "entity removed, with its objects")
        }
        for (source, entity) in pairs {
            if let source { compare(source, entity, taken) } else { add("+", entity.title, "entity added") }
        }
    }

    private mutating func add(_ sign: String, _ place: String, _ text: String, obstacle: String? = nil) {
        changes.append(Change(sign: sign, place: place, text: text, obstacle: obstacle))
    }

    /// What the thing was called before: what its renaming identifier says, else the same name; or what has the same identifier.
    private static func source<Thing>(
        of name: String, _ identifier: String?, in things: [Thing], _ title: (Thing) -> String, _ other: (Thing) -> String?
    ) -> Thing? {
        things.first { title($0) == identifier ?? name } ?? identifier.flatMap { id in things.first { other($0) == id } }
            ?? things.first { title($0) == name }
    }

    // MARK: Entities

    private mutating func compare(_ old: NSEntityDescription, _ new: NSEntityDescription, _ renamed: [ObjectIdentifier: String]) {
        let place = new.title
        if old.title != new.title { add("~", place, "renamed, was \(old.title)") }
        let parent = old.superentity.map { renamed[ObjectIdentifier($0)] ?? $0.title }
        if parent != new.superentity?.title {
            add("~", place, "moved in the hierarchy, from \(parent ?? "the top") to \(new.superentity?.title ?? "the top")")
        }
        if old.isAbstract != new.isAbstract {
            add(
                "~", place, new.isAbstract ? "became abstract" : "is not abstract any more",
                obstacle: new.isAbstract ? "what becomes of its objects is not said" : nil)
        }
        if old.versionHashModifier != new.versionHashModifier { add("~", place, "version hash modifier changed") }
        if old.managedObjectClassName != new.managedObjectClassName {
            add("~", place, "class \(new.managedObjectClassName ?? "none"), was \(old.managedObjectClassName ?? "none")")
        }
        var taken: Set<ObjectIdentifier> = []
        let before = old.properties, after = new.properties
        for property in after {
            let source = Self.source(of: property.name, property.renamingIdentifier, in: before, \.name, \.renamingIdentifier)
            // What is inherited is compared where it is stated.
            let isOwn = property.entity === new
            if let source {
                taken.insert(ObjectIdentifier(source))
                if isOwn { compare(source, property, "\(place).\(property.name)", renamed) }
            } else if isOwn {
                added(property, "\(place).\(property.name)")
            }
        }
        for property in before where !taken.contains(ObjectIdentifier(property)) && property.entity === old {
            add("-", "\(place).\(property.name)", "\(Self.kind(property)) removed")
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

    private mutating func added(_ property: NSPropertyDescription, _ place: String) {
        guard let attribute = property as? NSAttributeDescription else { return add("+", place, "\(Self.kind(property)) added") }
        let lacks = !attribute.isOptional && !attribute.isTransient && attribute.defaultValue == nil
            && !(attribute is NSCompositeAttributeDescription) && !(attribute is NSDerivedAttributeDescription)
        add(
            "+", place, "attribute added, \(attribute.typeTitle)\(attribute.isOptional ? "" : ", required")",
            obstacle: lacks ? "it is required, and without a default the objects that exist have no value for it" : nil)
    }

    private mutating func compare(
        _ old: NSPropertyDescription, _ new: NSPropertyDescription, _ place: String, _ renamed: [ObjectIdentifier: String]
    ) {
        guard Self.kind(old) == Self.kind(new) else {
            return add(
                "~", place, "\(Self.kind(new)), was \(Self.kind(old))",
                obstacle: "what the one's values become in the other is not said")
        }
        if old.name != new.name { add("~", place, "renamed, was \(old.name)") }
        if old.isTransient != new.isTransient { add("~", place, new.isTransient ? "became transient" : "is not transient any more") }
        if old.versionHashModifier != new.versionHashModifier { add("~", place, "version hash modifier changed") }
        if let old = old as? NSAttributeDescription, let new = new as? NSAttributeDescription {
            compare(old, new, place)
        } else if let old = old as? NSRelationshipDescription, let new = new as? NSRelationshipDescription {
            compare(old, new, place, renamed)
        }
    }

    private mutating func compare(_ old: NSAttributeDescription, _ new: NSAttributeDescription, _ place: String) {
        if old.typeTitle != new.typeTitle {
            let why = "a \(old.typeTitle) does not become a \(new.typeTitle) by itself"
            add("~", place, "\(new.typeTitle), was \(old.typeTitle)", obstacle: old.isTransient || new.isTransient ? nil : why)
        }
        if old.isOptional != new.isOptional {
            let lacks = !new.isOptional && new.defaultValue == nil && !new.isTransient
            add(
                "~", place, new.isOptional ? "optional, was required" : "required, was optional",
                obstacle: lacks ? "it has no default for the objects without a value" : nil)
        }
        if "\(old.defaultValue ?? "none")" != "\(new.defaultValue ?? "none")" {
            add("~", place, "default \(new.defaultValue ?? "none"), was \(old.defaultValue ?? "none")")
        }
        let before = (old as? NSDerivedAttributeDescription)?.derivationExpression?.description
        let after = (new as? NSDerivedAttributeDescription)?.derivationExpression?.description
        if before != after { add("~", place, "derived from \(after ?? "nothing"), was from \(before ?? "nothing")") }
        let rules = (old.validationPredicates.map(\.predicateFormat), new.validationPredicates.map(\.predicateFormat))
        if rules.0 != rules.1 { add("~", place, "rules \(rules.1.joined(separator: ", ")), were \(rules.0.joined(separator: ", "))") }
        if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
            add("~", place, new.allowsExternalBinaryDataStorage ? "stored apart" : "not stored apart any more")
        }
    }

    private mutating func compare(
        _ old: NSRelationshipDescription, _ new: NSRelationshipDescription, _ place: String, _ renamed: [ObjectIdentifier: String]
    ) {
        let before = old.destinationEntity.map { renamed[ObjectIdentifier($0)] ?? $0.title } ?? "?"
        let after = new.destinationEntity?.title ?? "?"
        if before != after {
            var known = new.destinationEntity?.managedObjectModel?.entitiesByName[before]
            var isWider = false
            while let entity = known {
                isWider = isWider || entity === new.destinationEntity
                known = entity.superentity
            }
            add("~", place, "leads to \(after), was to \(before)", obstacle: isWider ? nil : "a \(before) is no \(after)")
        }
        if old.isToMany != new.isToMany {
            add(
                "~", place, new.isToMany ? "to-many, was to-one" : "to-one, was to-many",
                obstacle: new.isToMany ? nil : "which of several members is to be kept is not said")
        } else if (old.minCount, old.maxCount) != (new.minCount, new.maxCount) || old.isOptional != new.isOptional {
            add("~", place, "\(new.multiplicity), was \(old.multiplicity)")
        }
        if old.isOrdered != new.isOrdered { add("~", place, new.isOrdered ? "ordered" : "not ordered any more") }
        if old.deleteRule != new.deleteRule { add("~", place, "delete rule \(new.ruleTitle), was \(old.ruleTitle)") }
        let inverses = (old.inverseRelationship?.name, new.inverseRelationship?.name)
        let isRenamed = new.inverseRelationship?.renamingIdentifier == inverses.0
        if inverses.0 != inverses.1, !isRenamed { add("~", place, "inverse \(inverses.1 ?? "none"), was \(inverses.0 ?? "none")") }
    }

    // MARK: Text

    var text: String {
        guard !changes.isEmpty else {
            return isSameVersion ? "The models are the same." : "The models differ in nothing that is listed here."
        }
        let width = changes.map(\.place.count).max() ?? 0
        var lines = changes.map { change in
            "\(change.sign) \(change.place)\(String(repeating: " ", count: width - change.place.count))  \(change.text)"
        }
        lines.append("")
        if isSameVersion {
            lines.append("Stores of the one open with the other as they are: nothing of this changes how objects are stored.")
        } else if obstacles.isEmpty {
            lines.append("A migration can be inferred.")
        } else {
            lines.append("No migration can be inferred:")
            lines += obstacles.map { "  \($0.place): \($0.obstacle ?? "")" }
        }
        return lines.joined(separator: "\n")
    }
}
