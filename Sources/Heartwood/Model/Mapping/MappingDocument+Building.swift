import Foundation

extension MappingDocument {
    /// Makes the mappings that the document states. Parts that it leaves to the models are filled in if both models are known.
    func entityMappings(from source: NSManagedObjectModel?, to destination: NSManagedObjectModel?) -> [NSEntityMapping] {
        let mappings = entities.map { entity in
            let mapping = NSEntityMapping()
            mapping.name = entity.name
            mapping.mappingType = entity.type
            mapping.sourceEntityName = entity.source
            mapping.destinationEntityName = entity.destination
            mapping.entityMigrationPolicyClassName = entity.policy
            mapping.userInfo = entity.userInfo
            if let name = entity.source {
                mapping.sourceExpression = entity.sourceExpression.map { NSExpression(node: $0) }
                    ?? NSMappingModel.sourceExpression(name, where: entity.predicate)
            }
            mapping.attributeMappings = entity.attributes.map { propertyMapping($0, $0.expression) }
            mapping.relationshipMappings = entity.relationships.map { propertyMapping($0, $0.expression ?? $0.implied) }
            return mapping
        }
        if let source, let destination { complete(mappings, from: source, to: destination) }
        return mappings
    }

    private func propertyMapping(_ property: Property, _ expression: ExpressionNode?) -> NSPropertyMapping {
        let mapping = NSPropertyMapping(property.name, nil)
        mapping.userInfo = property.userInfo
        mapping.valueExpression = expression.map { NSExpression(node: $0) }
        return mapping
    }

    /// Fills in the parts that follow from the models.
    func complete(_ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        for mapping in mappings {
            let old = mapping.sourceEntityName.flatMap { source.entitiesByName[$0] }
            let new = mapping.destinationEntityName.flatMap { destination.entitiesByName[$0] }
            mapping.sourceEntityVersionHash = old?.versionHash
            mapping.destinationEntityVersionHash = new?.versionHash
            if mapping.mappingType == .undefinedEntityMappingType { mapping.mappingType = Self.type(old, new, mapping) }
            guard !isCompiled, let old, let new else { continue }
            for property in mapping.attributeMappings ?? [] where property.valueExpression == nil {
                guard let name = property.name, let before = old.attributesByName[name], let after = new.attributesByName[name] else { continue }
                if AttributeConversion(from: before, to: after) != nil {
                    property.infer(.attribute(name))
                } else {
                    property.valueExpression = NSExpression(node: .path(.variable(NSMigrationSourceObjectKey), [name]))
                }
            }
            for property in mapping.relationshipMappings ?? [] where property.valueExpression == nil {
                guard let name = property.name, old.relationshipsByName[name] != nil else { continue }
                property.infer(.relationship(name))
            }
        }
    }

    private static func type(_ old: NSEntityDescription?, _ new: NSEntityDescription?, _ mapping: NSEntityMapping) -> NSEntityMappingType {
        if mapping.entityMigrationPolicyClassName != nil { return .customEntityMappingType }
        guard let old else { return .addEntityMappingType }
        guard let new else { return .removeEntityMappingType }
        return old.versionHash == new.versionHash ? .copyEntityMappingType : .transformEntityMappingType
    }
}

extension MappingDocument.Property {
    /// The expression that a key path and a mapping's name give; nil if the document states neither.
    fileprivate var implied: ExpressionNode? {
        guard keyPath != nil || mappingName != nil else { return nil }
        let path = keyPath ?? .path(.variable(NSMigrationSourceObjectKey), [name])
        let function = mappingName == nil ? MigrationFunction.destinationsOfRelationship : .destinations
        return .block(ExpressionBlock(.method(function.rawValue)), [
            .variable(NSMigrationManagerKey), .constant(.text(mappingName ?? name)), path,
        ])
    }
}
