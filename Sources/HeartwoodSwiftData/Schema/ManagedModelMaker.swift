import Foundation
import Heartwood

/// Makes the managed object model of a schema.
struct ManagedModelMaker {
    private let schema: Schema
    private var entities: [String: NSEntityDescription] = [:]

    /// - Throws: `SwiftDataError` for a schema that is impossible, with what to write instead.
    static func mapped(_ schema: Schema) throws -> MappedModel {
        if let fault = schema.fault { throw fault }
        let model = try model(schema)
        let mapped = MappedModel(model: model, schema: schema, types: Dictionary(schema.types.map { ($0.name, $0) }) { $1 })
        mapped.publish()
        return mapped
    }

    static func model(_ schema: Schema) throws -> NSManagedObjectModel {
        if let fault = schema.fault { throw fault }
        var maker = ManagedModelMaker(schema: schema)
        for entity in schema.entities { maker.entities[entity.name] = maker.described(entity) }
        for entity in schema.entities { try maker.fill(entity) }
        for entity in schema.entities { try maker.link(entity) }
        for entity in schema.entities { maker.addIndexes(entity) }
        let model = NSManagedObjectModel()
        model.entities = schema.entities.compactMap { maker.entities[$0.name] }
        model.versionIdentifiers = [schema.version.description]
        return model
    }

    private init(schema: Schema) { self.schema = schema }

    private func described(_ entity: Schema.Entity) -> NSEntityDescription {
        let made = NSEntityDescription()
        made.name = entity.name
        made.managedObjectClassName = "HeartwoodSwiftData.ModelObject"
        return made
    }

    private func fill(_ entity: Schema.Entity) throws {
        guard let made = entities[entity.name] else { return }
        made.properties = try entity.storedProperties.map { part in
            if let attribute = part as? Schema.Attribute { return try described(attribute, of: entity) }
            if let relationship = part as? Schema.Relationship { return described(relationship) }
            throw SwiftDataError.loadIssueModelContainer.because("\(entity.name).\(part.name) is neither an attribute nor a relationship.")
        }
        made.subentities = entity.subentities.sorted { $0.name < $1.name }.compactMap { entities[$0.name] }
    }

    // MARK: Attributes

    private func described(_ attribute: Schema.Attribute, of entity: Schema.Entity) throws -> NSAttributeDescription {
        guard let coding = AttributeCodings.coding(of: attribute.valueType, attribute) else {
            throw SwiftDataError.loadIssueModelContainer.because(
                "\(entity.name).\(attribute.name) has the type \(attribute.valueType), which is not Codable.")
        }
        let initial = try attribute.defaultValue.flatMap { try coding.objectOfAny($0) }
        let made = Self.described(attribute.name, coding.form, initial)
        made.isOptional = attribute.isOptional
        made.isTransient = attribute.isTransient
        made.isIndexedBySpotlight = attribute.options.contains(.spotlight)
        made.preservesValueInHistoryOnDeletion = attribute.options.contains(.preserveValueOnDeletion)
        made.allowsExternalBinaryDataStorage = attribute.options.contains(.externalStorage) && made.attributeType == .binaryDataAttributeType
        if attribute.options.contains(.textIndex) { made.userInfo = [TextIndexMark.key: "YES"] }
        if let name = attribute.transformerName { made.valueTransformerName = name }
        if attribute.originalName != attribute.name, !attribute.originalName.isEmpty { made.renamingIdentifier = attribute.originalName }
        made.versionHashModifier = attribute.hashModifier
        return made
    }

    private static func described(_ name: String, _ form: AttributeForm, _ initial: Any?) -> NSAttributeDescription {
        let made: NSAttributeDescription
        switch form {
        case .scalar(let type, _):
            made = NSAttributeDescription()
            made.attributeType = type
            made.defaultValue = initial
        case .raw(let type, let isOptional):
            let composite = NSCompositeAttributeDescription()
            composite.elements = [described(name, .scalar(type, isOptional: isOptional), initial)]
            made = composite
        case .composite(let elements, _):
            let composite = NSCompositeAttributeDescription()
            let parts = initial as? [String: Any]
            composite.elements = elements.map { described($0.name, $0.form, parts?[$0.name]) }
            made = composite
        case .json:
            made = NSAttributeDescription()
            made.attributeType = .binaryDataAttributeType
            made.defaultValue = initial
        case .transformable(let className, _):
            made = NSAttributeDescription()
            made.attributeType = .transformableAttributeType
            if let className { made.attributeValueClassName = className }
        }
        made.name = name
        made.isOptional = form.isOptional
        return made
    }

    // MARK: Relationships

    private func described(_ relationship: Schema.Relationship) -> NSRelationshipDescription {
        let made = NSRelationshipDescription()
        made.name = relationship.name
        made.destinationEntity = entities[relationship.destination]
        let isToOne = relationship.isToOneRelationship
        made.maxCount = isToOne ? 1 : relationship.maximumModelCount ?? 0
        made.minCount = isToOne ? (relationship.isOptional ? 0 : 1) : relationship.minimumModelCount ?? 0
        made.isOptional = isToOne ? relationship.isOptional : made.minCount == 0
        made.deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        if relationship.originalName != relationship.name, !relationship.originalName.isEmpty {
            made.renamingIdentifier = relationship.originalName
        }
        made.versionHashModifier = relationship.hashModifier
        return made
    }

    private func link(_ entity: Schema.Entity) throws {
        for relationship in entity.relationships {
            guard let made = entities[entity.name]?.relationshipsByName[relationship.name] else { continue }
            guard let destination = entities[relationship.destination] else {
                throw SwiftDataError.loadIssueModelContainer.because(
                    "\(entity.name).\(relationship.name) leads to \(relationship.destination), which the schema does not have.")
            }
            guard let name = relationship.inverseName else { continue }
            var owner: NSEntityDescription? = destination
            while let known = owner, known.relationshipsByName[name]?.entity !== known { owner = known.superentity }
            made.inverseRelationship = (owner ?? destination).relationshipsByName[name]
        }
    }

    // MARK: Indexes and constraints

    private func addIndexes(_ entity: Schema.Entity) {
        guard let made = entities[entity.name] else { return }
        made.uniquenessConstraints = entity.uniquenessConstraints.map { names in names.map { Self.indexedPath($0, in: made) as Any } }
        made.indexes = entity.indices.enumerated().compactMap { number, names in
            let elements = names.compactMap { name in
                Self.property(Self.indexedPath(name, in: made), of: made).map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
            }
            guard elements.count == names.count else { return nil }
            return NSFetchIndexDescription(name: "by_\(names.joined(separator: "_"))_\(number)", elements: elements)
        }
    }

    /// An enumeration is found by its raw value, the only element of its composite.
    private static func indexedPath(_ name: String, in entity: NSEntityDescription) -> String {
        guard let composite = entity.attributesByName[name] as? NSCompositeAttributeDescription, composite.elements.count == 1 else { return name }
        return "\(name).\(composite.elements[0].name)"
    }

    private static func property(_ path: String, of entity: NSEntityDescription) -> NSPropertyDescription? { entity.propertiesByName[path] }
}

extension NSManagedObjectModel {
    /// The managed object model of model classes, for a container of managed objects over the same store.
    /// - Returns: nil for classes of which no model can be made, and where an entity is in both models.
    /// Source: https://developer.apple.com/documentation/swiftdata/nsmanagedobjectmodel
    public static func makeManagedObjectModel(
        for types: [any PersistentModel.Type], mergedWith model: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(types), mergedWith: model)
    }

    public static func makeManagedObjectModel(
        for types: any PersistentModel.Type..., mergedWith model: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(types), mergedWith: model)
    }

    public static func makeManagedObjectModel(for schema: Schema, mergedWith model: NSManagedObjectModel? = nil) -> NSManagedObjectModel? {
        guard let made = try? ManagedModelMaker.model(schema) else { return nil }
        // The objects of a context of managed objects have no models.
        for entity in made.entities { entity.managedObjectClassName = NSEntityDescription().managedObjectClassName }
        guard let model else { return made }
        guard Set(model.entitiesByName.keys).isDisjoint(with: made.entitiesByName.keys) else { return nil }
        return NSManagedObjectModel(byMerging: [made, model])
    }
}
