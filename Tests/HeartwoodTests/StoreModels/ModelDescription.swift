import Foundation

@testable import Heartwood

/// A description of an entity, in the words of `Tests/FormatReader/model_cache.py`.
struct ModelDescription: Decodable, Equatable {
    var parent: String?
    var abstract: Bool
    var `class`: String
    var unique: [[String]]
    /// nil where only the reader of a store knows the names.
    var indexes: [String]?
    /// Inherited ones too.
    var properties: [String: String]

    init(_ entity: NSEntityDescription) {
        parent = entity.superentity?.name
        abstract = entity.isAbstract
        `class` = entity.managedObjectClassName
        unique = entity.uniquenessConstraints.map { $0.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String } }
        indexes = entity.indexes.map(\.name).sorted()
        properties = entity.propertiesByName.mapValues(Self.line)
    }

    static func all(_ model: NSManagedObjectModel) -> [String: ModelDescription] { model.entitiesByName.mapValues(ModelDescription.init) }

    private static func line(_ property: NSPropertyDescription) -> String {
        switch property {
        case let relationship as NSRelationshipDescription:
            let counts = "\(relationship.minCount)..\(relationship.maxCount)"
            return (["relationship", relationship.destinationEntity?.name ?? "", relationship.inverseRelationship?.name ?? "-", counts,
                "rule=\(relationship.deleteRule.rawValue)"] + words(relationship)).joined(separator: " ")
        case let attribute as NSAttributeDescription:
            let kind = attribute is NSDerivedAttributeDescription ? "derived" : "attribute", rules = attribute.validationPredicates.count
            let value = attribute.defaultValue.map { ["default=\(text($0))"] } ?? []
            return ([kind, "\(attribute.attributeType.rawValue)"] + words(attribute) + value + (rules > 0 ? ["rules=\(rules)"] : []))
                .joined(separator: " ")
        default: return "fetched"
        }
    }

    private static func words(_ property: NSPropertyDescription) -> [String] {
        let attribute = property as? NSAttributeDescription
        let isOrdered = (property as? NSRelationshipDescription)?.isOrdered
        let flags = [
            (property.isOptional, "optional"), (property.isTransient, "transient"), (isOrdered, "ordered"),
            (attribute?.allowsExternalBinaryDataStorage, "external"), (attribute?.preservesValueInHistoryOnDeletion, "preserved"),
        ]
        let was = property.renamingIdentifier == property.name ? nil : property.renamingIdentifier
        let texts = [("was", was), ("modifier", property.versionHashModifier), ("by", attribute?.valueTransformerName)]
        return flags.filter { $0.0 == true }.map(\.1) + texts.compactMap { word, text in text.map { "\(word)=\($0)" } }
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let text as String: text
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case is NSDecimalNumber: "object"
        case let number as NSNumber: "\(number.doubleValue)"
        default: "object"
        }
    }
}
