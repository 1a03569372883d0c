import Foundation
internal import HeartwoodDigests

/// Hashes that identify an entity's version. They cover everything that changes how objects are stored. Defaults, classes, user info and
/// limits are left out.
enum VersionHash {
    static func hash(of entity: NSEntityDescription) -> Data {
        data(VersionText.entity(
            name: entity.name ?? "", modifier: entity.versionHashModifier, isAbstract: entity.isAbstract, parent: entity.superentity?.name,
            properties: entity.properties.sorted { $0.name < $1.name }.map(describe), constraints: entity.allUniquenessConstraints))
    }

    /// The hash of one property, which shows which of an entity's properties has changed.
    static func hash(of property: NSPropertyDescription) -> Data { data(describe(property)) }

    private static func data(_ lines: [String]) -> Data {
        let hash = VersionText.hash(of: lines)
        return Data(bytes: hash, count: hash.count)
    }

    private static func describe(_ property: NSPropertyDescription) -> [String] {
        let common = VersionText.Property(
            name: property.name, isOptional: property.isOptional, isTransient: property.isTransient, modifier: property.versionHashModifier)
        switch property {
        case is NSFetchedPropertyDescription: return []
        case let composite as NSCompositeAttributeDescription:
            return VersionText.composite(common, elements: composite.elements.sorted { $0.name < $1.name }.map(describe))
        case let derived as NSDerivedAttributeDescription:
            return VersionText.derived(
                common, type: derived.attributeType.rawValue, derivation: derived.derivationExpression?.description ?? "")
        case let attribute as NSAttributeDescription:
            return VersionText.attribute(
                common, type: attribute.attributeType.rawValue, isExternal: PropertyKind(attribute) == .externalData)
        case let relationship as NSRelationshipDescription:
            return VersionText.relationship(
                common, destination: relationship.destinationEntity?.name ?? "", inverse: relationship.inverseRelationship?.name,
                counts: (relationship.minCount, relationship.maxCount), rule: relationship.deleteRule.rawValue,
                isOrdered: relationship.isOrdered)
        default: return common.lines
        }
    }
}
