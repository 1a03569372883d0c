import Foundation
internal import Digests

/// Hashes that identify an entity's version. They cover everything that changes how objects are stored. Defaults, classes, user info and
/// limits are left out.
enum VersionHash {
    static func hash(of entity: NSEntityDescription) -> Data {
        var lines = [
            "entity", entity.name ?? "", entity.versionHashModifier ?? "", entity.isAbstract ? "abstract" : "",
            entity.superentity?.name ?? "",
        ]
        for property in entity.properties.sorted(by: { $0.name < $1.name }) { lines += describe(property) }
        for constraint in entity.allUniquenessConstraints.map({ PlainText.joined($0.sorted(), by: ",") }).sorted() { lines += ["unique", constraint] }
        return hash(of: lines)
    }

    /// The hash of one property, which shows which of an entity's properties has changed.
    static func hash(of property: NSPropertyDescription) -> Data {
        hash(of: describe(property))
    }

    private static func hash(of lines: [String]) -> Data {
        // No name contains this separator, so different lists give different texts.
        let hash = SHA256.hash(Array(PlainText.joined(lines, by: "\u{1F}").utf8))
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
