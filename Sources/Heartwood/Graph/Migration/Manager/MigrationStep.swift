import Foundation

/// One entity mapping during a migration.
final class MigrationStep {
    let mapping: NSEntityMapping
    let policy: NSEntityMigrationPolicy
    let source: NSEntityDescription?
    let destination: NSEntityDescription?
    var associations = MigrationAssociations()
    /// The setters that the default policy uses; made on first use.
    private(set) lazy var attributes = attributeSetters()
    private(set) lazy var relationships = relationshipSetters()

    struct AttributeSetter {
        /// The index of the destination's property.
        let index: Int
        let name: String
        let rule: Rule

        enum Rule {
            /// Copies the source's property. A required attribute without a value gets its default.
            case copy(from: Int, AttributeConversion, PropertyKind, default: ManagedValue)
            case evaluate(NSPropertyMapping, NSExpression)
        }
    }

    struct RelationshipSetter {
        let index: Int
        let name: String
        let isToMany: Bool
        let destination: NSEntityDescription?
        let rule: Rule

        enum Rule {
            /// Takes the objects made from those of the source's relationship.
            case copy(from: Int, isToMany: Bool)
            case evaluate(NSPropertyMapping, NSExpression)
        }
    }

    init(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy, _ source: NSEntityDescription?, _ destination: NSEntityDescription?) {
        self.mapping = mapping
        self.policy = policy
        self.source = source
        self.destination = destination
    }

    /// Whether the step reads objects of the source.
    var asksSource: Bool {
        source != nil && mapping.mappingType != .addEntityMappingType && mapping.mappingType != .removeEntityMappingType
    }

    private func attributeSetters() -> [AttributeSetter] {
        (mapping.attributeMappings ?? []).flatMap { property -> [AttributeSetter] in
            guard let name = property.name, let new = destination?.attributesByName[name], let expression = property.valueExpression
            else { return [] }
            if case .attribute(let key)? = property.inference, let old = source?.attributesByName[key] {
                return ModelComparison.columns(from: old, to: new).compactMap(copy)
            }
            return [AttributeSetter(index: new.index, name: name, rule: .evaluate(property, expression))]
        }
    }

    private func copy(_ column: ModelComparison.ColumnPair) -> AttributeSetter? {
        let new = column.destination.attribute
        guard let conversion = AttributeConversion(from: column.source.attribute, to: new),
            let index = source?.propertyIndexByName[column.source.name], let target = destination?.propertyIndexByName[column.destination.name]
        else { return nil }
        let kind = PropertyKind(new)
        let given = new.isOptional ? nil : new.defaultValue.flatMap { ManagedValue(attributeObject: $0, kind: kind) }
        return AttributeSetter(index: target, name: column.destination.name, rule: .copy(from: index, conversion, kind, default: given ?? .null))
    }

    private func relationshipSetters() -> [RelationshipSetter] {
        (mapping.relationshipMappings ?? []).compactMap { property in
            guard let name = property.name, let new = destination?.relationshipsByName[name], let expression = property.valueExpression
            else { return nil }
            var rule = RelationshipSetter.Rule.evaluate(property, expression)
            if case .relationship(let key)? = property.inference, let old = source?.relationshipsByName[key] {
                rule = .copy(from: old.index, isToMany: old.isToMany)
            }
            return RelationshipSetter(index: new.index, name: name, isToMany: new.isToMany, destination: new.destinationEntity, rule: rule)
        }
    }

    /// The source's relationship that an inferred relationship mapping copies.
    func sourceOfRelationship(_ name: String) -> NSRelationshipDescription? {
        guard case .relationship(let key)? = mapping.relationshipMappings?.first(where: { $0.name == name })?.inference else { return nil }
        return source?.relationshipsByName[key]
    }

    /// Removes setters of relationships that the setter of the other side sets as well.
    func leaveOutInverses(among steps: [MigrationStep]) {
        guard policy.isPlain else { return }
        relationships.removeAll { setter in
            guard setter.isToMany, let new = destination?.relationshipsByName[setter.name], !new.isOrdered, let inverse = new.inverseRelationship,
                inverse !== new, !inverse.isTransient, let old = sourceOfRelationship(setter.name), let oldInverse = old.inverseRelationship,
                oldInverse.isToMany == inverse.isToMany
            else { return false }
            // Of two to-many sides one is removed, chosen by name.
            if inverse.isToMany, !inverse.isOrdered, new.sideName > inverse.sideName { return false }
            let others = steps.filter { $0.destination.map { $0.isKindOf(entity: new.destinationEntity ?? $0) } ?? false && $0.asksSource }
            return !others.isEmpty && others.allSatisfy { step in
                step.policy.isPlain && step.sourceOfRelationship(inverse.name) === oldInverse
            }
        }
    }
}

extension NSRelationshipDescription {
    fileprivate var sideName: String { "\(holder?.name ?? "").\(name)" }
}

extension NSEntityMigrationPolicy {
    /// Whether it is the default policy, without a subclass.
    final var isPlain: Bool { Swift.type(of: self) == NSEntityMigrationPolicy.self }
}
