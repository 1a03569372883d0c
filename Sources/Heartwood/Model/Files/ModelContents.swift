import Foundation

/// The contents of models and their parts as values for comparison. Two loads of one file have equal contents.
///
/// Parts refer to each other by name, so nothing here follows a relationship into another entity. `ModelDocument` cannot be used for this. It
/// omits everything that a model file cannot state, such as classes, and values without a text form.
enum ModelContents {
    static func contents(of model: NSManagedObjectModel) -> [AnyHashable] {
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.map { AnyHashable(contents(of: $0)) }
        let configurations = model.configurations.map { name -> [AnyHashable] in
            [name, (model.entities(forConfigurationName: name) ?? []).compactMap(\.name).sorted()]
        }
        let templates = model.fetchRequestTemplatesByName.mapValues { AnyHashable(contents(of: $0)) }
        return [entities, configurations, templates, model.versionIdentifiers]
    }

    static func contents(of entity: NSEntityDescription) -> [AnyHashable] {
        let properties = entity.declaredProperties.sorted { $0.name < $1.name }.map { AnyHashable(contents(of: $0)) }
        let constraints = entity.uniquenessConstraints.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" } }
        return [
            entity.name, entity.managedObjectClassName, entity.isAbstract, entity.superentity?.name,
            entity.subentities.map { $0.name ?? "" }.sorted(), entity.renamingIdentifier, entity.versionHashModifier, values(entity.userInfo),
            properties, constraints, entity.indexes.map { AnyHashable(contents(of: $0)) },
        ]
    }

    static func contents(of property: NSPropertyDescription) -> [AnyHashable] {
        [
            ObjectIdentifier(type(of: property)), property.name, property.holder?.name, property.isOptional, property.isTransient,
            property.renamingIdentifier, property.versionHashModifier, values(property.userInfo),
            property.validationPredicates.map(\.predicateFormat), property.validationWarnings.map(value),
        ] + kindContents(of: property)
    }

    private static func kindContents(of property: NSPropertyDescription) -> [AnyHashable] {
        switch property {
        case let attribute as NSAttributeDescription:
            let plain: [AnyHashable] = [
                attribute.attributeType, attribute.defaultValue.map(value), attribute.allowsExternalBinaryDataStorage,
                attribute.valueTransformerName,
                attribute.attributeValueClassName, attribute.preservesValueInHistoryOnDeletion,
            ]
            let elements = (attribute as? NSCompositeAttributeDescription)?.elements.map { AnyHashable(contents(of: $0)) }
            return plain + [(attribute as? NSDerivedAttributeDescription)?.derivationExpression?.description, elements]
        case let relationship as NSRelationshipDescription:
            return [
                relationship.destinationEntity?.name, relationship.inverseRelationship?.name, relationship.minCount, relationship.maxCount,
                relationship.deleteRule, relationship.isOrdered,
            ]
        case let fetched as NSFetchedPropertyDescription: return [fetched.fetchRequest.map { AnyHashable(contents(of: $0)) }]
        case let computed as NSExpressionDescription: return [computed.expression?.description, computed.expressionResultType]
        default: return []
        }
    }

    private static func contents(of index: NSFetchIndexDescription) -> [AnyHashable] {
        let elements = index.elements.map { element -> [AnyHashable] in
            let expression = (element.property as? NSExpressionDescription)?.expression?.description
            return [element.propertyName, expression, element.collationType, element.isAscending]
        }
        return [index.name, elements, index.partialIndexPredicate?.predicateFormat]
    }

    private static func contents(of request: NSFetchRequest<any NSFetchRequestResult>) -> [AnyHashable] {
        [
            request.entityName, request.predicate?.predicateFormat, (request.sortDescriptors ?? []).map { "\($0)" }, request.fetchLimit,
            request.fetchOffset, request.fetchBatchSize, request.resultType.rawValue, request.includesSubentities,
            request.includesPropertyValues, request.includesPendingChanges, request.returnsObjectsAsFaults, request.returnsDistinctResults,
            request.propertiesToFetch.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" } },
        ]
    }

    private static func values(_ userInfo: [AnyHashable: Any]?) -> [AnyHashable: AnyHashable] { (userInfo ?? [:]).mapValues(value) }

    private static func value(_ value: Any) -> AnyHashable { value as? AnyHashable ?? AnyHashable("\(value)") }
}
