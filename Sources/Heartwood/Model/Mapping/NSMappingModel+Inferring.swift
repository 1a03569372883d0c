import Foundation

extension NSMappingModel {
    /// Makes the mapping that a comparison gives. Mappings have the names that Core Data gives them: `IEM_Copy_Entity`, `IEM_Transform_Entity`,
    /// `IEM_Add_Entity`, `IEM_Remove_Entity`.
    convenience init(inferredFrom comparison: ModelComparison) {
        self.init()
        let removed = comparison.removed.filter { !$0.isAbstract }.map { Self.mapping("Remove", .removeEntityMappingType, from: $0, to: nil) }
        let added = comparison.added.filter { !$0.isAbstract }.map { Self.mapping("Add", .addEntityMappingType, from: nil, to: $0) }
        let kept = comparison.pairs.filter { !$0.source.isAbstract && !$0.destination.isAbstract }.map { pair -> NSEntityMapping in
            let isCopy = pair.source.versionHash == pair.destination.versionHash
            let mapping = Self.mapping(
                isCopy ? "Copy" : "Transform", isCopy ? .copyEntityMappingType : .transformEntityMappingType, from: pair.source,
                to: pair.destination)
            mapping.sourceExpression = Self.sourceExpression(pair.source.name ?? "")
            let sources = Dictionary(pair.properties.map { ($0.destination.name, $0.source.name) }) { first, _ in first }
            mapping.attributeMappings = pair.destination.properties.compactMap { property in
                guard property is NSAttributeDescription, !(property is NSDerivedAttributeDescription), !property.isTransient else { return nil }
                return NSPropertyMapping(property.name, sources[property.name].map { .attribute($0) })
            }
            mapping.relationshipMappings = pair.destination.properties.compactMap { property in
                guard property is NSRelationshipDescription, !property.isTransient else { return nil }
                return NSPropertyMapping(property.name, sources[property.name].map { .relationship($0) })
            }
            return mapping
        }
        entityMappings = removed + added + kept
        inferredText = text
    }

    /// A text of the whole contents. Comparing it with an older one shows whether the model was changed.
    final var text: String {
        (entityMappings ?? []).map { mapping in
            let properties = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
            return "\(mapping) \(mapping.mappingType) \(mapping.entityMigrationPolicyClassName ?? "") "
                + "\(mapping.sourceExpression.map { "\($0)" } ?? "") \(properties)"
        }.joined(separator: "\n")
    }

    private static func mapping(
        _ kind: String, _ type: NSEntityMappingType, from source: NSEntityDescription?, to destination: NSEntityDescription?
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = "IEM_\(kind)_\((destination ?? source)?.name ?? "")"
        mapping.mappingType = type
        mapping.setEntities(source, destination)
        return mapping
    }

    /// Builds the expression that Xcode writes for this.
    static func sourceExpression(_ entity: String, where predicate: String? = nil) -> NSExpression {
        let request = ExpressionNode.block(ExpressionBlock(.method(MigrationFunction.fetchRequest.rawValue)), [
            .variable(NSMigrationManagerKey), .constant(.text(entity)), .constant(.text(predicate ?? "TRUEPREDICATE")),
        ])
        let context = ExpressionNode.path(.variable(NSMigrationManagerKey), ["sourceContext"])
        return NSExpression(node: .block(ExpressionBlock(.fetch), [request, context, .constant(.bool(false))]))
    }
}

extension NSEntityMapping {
    final func setEntities(_ source: NSEntityDescription?, _ destination: NSEntityDescription?) {
        sourceEntityName = source?.name
        sourceEntityVersionHash = source?.versionHash
        destinationEntityName = destination?.name
        destinationEntityVersionHash = destination?.versionHash
    }
}
