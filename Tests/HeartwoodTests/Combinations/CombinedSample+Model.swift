import Foundation

@testable import Heartwood

extension CombinedSample {
    /// Two entities with the columns of the sample, and the destination of their references.
    func model() -> NSManagedObjectModel {
        let target = NSEntityDescription()
        target.name = "Target"
        target.properties = [TestStack.attribute("label", .stringAttributeType)]
        let rows = ["Plain", "Indexed"].map { name in
            let entity = NSEntityDescription()
            entity.name = name
            var properties: [NSPropertyDescription] = columns.map { property($0, target) }
            if name == "Plain", let one = properties.lazy.compactMap({ $0 as? NSRelationshipDescription }).first {
                let inverse = TestStack.relationship("plains", to: entity, toMany: true)
                TestStack.connect(one, inverse)
                target.properties.append(inverse)
            }
            if name == "Indexed" {
                entity.indexes = zip(columns, properties).filter { $0.0.kind.isComparable }.map { TestStack.index("by_\($0.name)", [$1]) }
            }
            properties.append(TestStack.attribute("key", .stringAttributeType, optional: false))
            if let source = columns.first(where: { $0.origin == derivedFrom }) {
                properties.append(ClubModel.derived("derived", .stringAttributeType, "canonical:(\(source.name))"))
            }
            entity.properties = properties
            entity.uniquenessConstraints = [["key"]] + columns.filter { $0.kind == .code }.map { [$0.name] }
            return entity
        }
        let model = NSManagedObjectModel()
        model.entities = rows + [target]
        return model
    }

    private func property(_ column: Column, _ target: NSEntityDescription) -> NSPropertyDescription {
        let property: NSPropertyDescription
        switch column.kind {
        case .reference: property = TestStack.relationship(column.name, to: target, toMany: false)
        case .composite:
            let composite = NSCompositeAttributeDescription()
            composite.name = column.name
            composite.isOptional = true
            composite.elements = [TestStack.attribute("city", .stringAttributeType), TestStack.attribute("x", .doubleAttributeType)]
            property = composite
        default:
            let attribute = TestStack.attribute(column.name, column.kind.type, optional: column.isOptional, default: column.defaultValue)
            attribute.allowsExternalBinaryDataStorage = column.kind == .external
            property = attribute
        }
        if column.origin != column.name { property.renamingIdentifier = column.origin }
        return property
    }
}
