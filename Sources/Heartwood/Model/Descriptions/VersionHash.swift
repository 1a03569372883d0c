import Foundation

/// The identity of an entity's version: what changes how its objects are stored, and nothing else (not defaults, classes,
/// user info or limits).
enum VersionHash {
    static func hash(of entity: NSEntityDescription) -> Data {
        var lines = [
            "entity", entity.name ?? "", entity.versionHashModifier ?? "", entity.isAbstract ? "abstract" : "",
            entity.superentity?.name ?? "",
        ]
        for property in entity.properties.sorted(by: { $0.name < $1.name }) { lines += describe(property) }
        for constraint in entity.allUniquenessConstraints.map({ joined($0.sorted(), by: ",") }).sorted() { lines += ["unique", constraint] }
        return hash(of: lines)
    }

    /// Of one property, so that it can be told which of an entity's has changed.
    static func hash(of property: NSPropertyDescription) -> Data {
        hash(of: describe(property))
    }

    /// As `joined(separator:)`, whose first call looks up types: every process that opens a store makes it.
    private static func joined(_ parts: [String], by separator: String) -> String {
        var text = ""
        for (index, part) in parts.enumerated() {
            if index > 0 { text += separator }
            text += part
        }
        return text
    }

    private static func hash(of lines: [String]) -> Data {
        // No name holds this separator, so different lists never run together.
        let hash = SHA256.hash(Array(joined(lines, by: "\u{1F}").utf8))
        return Data(bytes: hash, count: hash.count)
    }

    private static func describe(_ property: NSPropertyDescription) -> [String] {
        let common = [
            property.name, property.isOptional ? "optional" : "required", property.isTransient ? "transient" : "",
            property.versionHashModifier ?? "",
        ]
        switch property {
        case is NSFetchedPropertyDescription: return []
        case let composite as NSCompositeAttributeDescription:
            return ["composite"] + common + composite.elements.sorted { $0.name < $1.name }.flatMap(describe) + ["end"]
        case let derived as NSDerivedAttributeDescription:
            return ["derived"] + common + ["\(derived.attributeType.rawValue)", derived.derivationExpression?.description ?? ""]
        case let attribute as NSAttributeDescription:
            let isExternal = PropertyKind(attribute) == .externalData
            return ["attribute"] + common + ["\(attribute.attributeType.rawValue)"] + (isExternal ? ["external"] : [])
        case let relationship as NSRelationshipDescription:
            return ["relationship"] + common + [
                relationship.destinationEntity?.name ?? "", relationship.inverseRelationship?.name ?? "",
                "\(relationship.minCount)", "\(relationship.maxCount)", "\(relationship.deleteRule.rawValue)",
                relationship.isOrdered ? "ordered" : "",
            ]
        default: return common
        }
    }
}
