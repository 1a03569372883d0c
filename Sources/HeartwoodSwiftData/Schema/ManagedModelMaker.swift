import Foundation
import Heartwood

/// Makes the managed object model of a schema.
///
/// A model class does not say everything of an entity. What it leaves open, the model of an existing store decides.
struct ManagedModelMaker {
    private let schema: Schema
    private let stored: [String: NSEntityDescription]
    private var entities: [String: NSEntityDescription] = [:]

    /// - Parameter stored: the entities of existing stores, by name.
    /// - Throws: `SwiftDataError` for a schema that is impossible, with what to write instead.
    static func mapped(_ schema: Schema, following stored: [String: NSEntityDescription] = [:]) throws -> MappedModel {
        if let fault = schema.fault { throw fault }
        let model = try model(schema, following: stored)
        let mapped = MappedModel(
            model: model, schema: schema, types: Dictionary(schema.types.map { ($0.name, $0) }) { $1 }, isFollowing: !stored.isEmpty)
        mapped.publish()
        return mapped
    }

    static func model(_ schema: Schema, following stored: [String: NSEntityDescription] = [:]) throws -> NSManagedObjectModel {
        if let fault = schema.fault { throw fault }
        var maker = ManagedModelMaker(schema: schema, stored: stored)
        for entity in schema.entities { maker.entities[entity.name] = maker.described(entity) }
        for entity in schema.entities { try maker.fill(entity) }
        for entity in schema.entities { try maker.link(entity) }
        for entity in schema.entities { maker.addIndexes(entity) }
        let model = NSManagedObjectModel()
        model.entities = schema.entities.compactMap { maker.entities[$0.name] }
        model.versionIdentifiers = [schema.version.description]
        return model
    }

    private init(schema: Schema, stored: [String: NSEntityDescription]) { (self.schema, self.stored) = (schema, stored) }

    private func described(_ entity: Schema.Entity) -> NSEntityDescription {
        let made = NSEntityDescription()
        made.name = entity.name
        made.managedObjectClassName = "HeartwoodSwiftData.ModelObject"
        if let stored = stored[entity.name] {
            made.isAbstract = stored.isAbstract && !entity.subentities.isEmpty
            made.versionHashModifier = stored.versionHashModifier
        }
        return made
    }

    private func fill(_ entity: Schema.Entity) throws {
        guard let made = entities[entity.name] else { return }
        let stored = stored[entity.name]
        made.properties = try entity.storedProperties.map { part in
            if let attribute = part as? Schema.Attribute { return try described(attribute, of: entity, stored) }
            if let relationship = part as? Schema.Relationship { return described(relationship, stored) }
            throw SwiftDataError.loadIssueModelContainer.because("\(entity.name).\(part.name) is neither an attribute nor a relationship.")
        }
        made.properties += stored.map { Self.unsaid($0, made.propertiesByName) } ?? []
        made.subentities = entity.subentities.sorted { $0.name < $1.name }.compactMap { entities[$0.name] }
    }

    /// The attributes of types that no property of a class has. They are transient, so a store has no values of them.
    private static func unsaid(_ stored: NSEntityDescription, _ known: [String: NSPropertyDescription]) -> [NSPropertyDescription] {
        stored.attributesByName.values.filter { attribute in
            attribute.holder === stored && attribute.isTransient && known[attribute.name] == nil
                && [.undefinedAttributeType, .objectIDAttributeType].contains(attribute.attributeType)
        }.sorted { $0.name < $1.name }.compactMap { $0.copy() as? NSPropertyDescription }
    }

    // MARK: Attributes

    private func described(
        _ attribute: Schema.Attribute, of entity: Schema.Entity, _ stored: NSEntityDescription?
    ) throws -> NSAttributeDescription {
        guard let own = AttributeCodings.coding(of: attribute.valueType, attribute) else {
            throw SwiftDataError.loadIssueModelContainer.because(
                "\(entity.name).\(attribute.name) has the type \(attribute.valueType), which is not Codable.")
        }
        let known = stored?.attributesByName[attribute.name] ?? stored?.attributesByName[attribute.originalName]
        let found = known.flatMap { own.following($0) }, coding = found ?? own
        let initial = try attribute.defaultValue.flatMap { try coding.objectOfAny($0) }
        let made = Self.described(attribute.name, coding, initial, following: found == nil ? nil : known)
        made.isOptional = attribute.isOptional
        made.isTransient = attribute.isTransient
        made.isIndexedBySpotlight = attribute.options.contains(.spotlight)
        made.preservesValueInHistoryOnDeletion = attribute.options.contains(.preserveValueOnDeletion)
        made.allowsExternalBinaryDataStorage = attribute.options.contains(.externalStorage) && made.attributeType == .binaryDataAttributeType
        if attribute.options.contains(.textIndex) { made.userInfo = [TextIndexMark.key: "YES"] }
        if let name = attribute.transformerName { made.valueTransformerName = name }
        if attribute.originalName != attribute.name, !attribute.originalName.isEmpty {
            made.renamingIdentifier = attribute.originalName
            // The element of an enumeration has the property's name.
            if case .raw = coding.form { (made as? NSCompositeAttributeDescription)?.elements.first?.renamingIdentifier = attribute.originalName }
        }
        made.versionHashModifier = attribute.hashModifier
        return made
    }

    /// - Parameter stored: the attribute of a store; its form is taken if the coding knows it.
    private static func described(
        _ name: String, _ coding: any AttributeCoding, _ initial: Any?, following stored: NSAttributeDescription?
    ) -> NSAttributeDescription {
        guard let stored, coding.following(stored) != nil else { return described(name, coding.form, initial) }
        guard let composite = stored as? NSCompositeAttributeDescription else { return copy(of: stored, named: name, initial) }
        let made = NSCompositeAttributeDescription(), values = initial as? [String: Any]
        made.name = name
        if let parts = coding.parts {
            made.elements = parts.map { part in
                let known = composite.elements.first { $0.name == part.name }
                return element(described(part.name, part.coding, values?[part.name], following: known), like: known)
            }
        } else {
            let single = composite.elements.count == 1 ? initial : nil
            made.elements = composite.elements.map { element(copy(of: $0, named: $0.name, values?[$0.name] ?? single), like: $0) }
        }
        return made
    }

    private static func element(_ made: NSAttributeDescription, like stored: NSAttributeDescription?) -> NSAttributeDescription {
        made.isOptional = stored?.isOptional ?? true
        return made
    }

    /// What decides how the attribute's values are kept. The rest is the class's to say.
    private static func copy(of stored: NSAttributeDescription, named name: String, _ initial: Any?) -> NSAttributeDescription {
        let made: NSAttributeDescription
        switch stored {
        case let derived as NSDerivedAttributeDescription:
            let new = NSDerivedAttributeDescription()
            new.derivationExpression = derived.derivationExpression
            made = new
        case let composite as NSCompositeAttributeDescription:
            let new = NSCompositeAttributeDescription(), values = initial as? [String: Any]
            new.elements = composite.elements.map { element(copy(of: $0, named: $0.name, values?[$0.name]), like: $0) }
            made = new
        default: made = NSAttributeDescription()
        }
        made.name = name
        made.attributeType = stored.attributeType
        if made.attributeType == .transformableAttributeType {
            made.valueTransformerName = stored.valueTransformerName
            made.attributeValueClassName = stored.attributeValueClassName
        }
        if !(made is NSCompositeAttributeDescription) { made.defaultValue = initial }
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
            composite.elements = [element(described(name, .scalar(type, isOptional: isOptional), initial), like: nil)]
            made = composite
        case .composite(let elements, _):
            let composite = NSCompositeAttributeDescription()
            let parts = initial as? [String: Any]
            composite.elements = elements.map { element(described($0.name, $0.form, parts?[$0.name]), like: nil) }
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

    /// The limits are those of SwiftData's own files: no least number, and a list that is no optional is required and may be empty.
    private func described(_ relationship: Schema.Relationship, _ entity: NSEntityDescription?) -> NSRelationshipDescription {
        let stored = Self.stored(relationship, in: entity)
        let made = NSRelationshipDescription()
        made.name = relationship.name
        made.destinationEntity = entities[relationship.destination]
        let isToOne = relationship.isToOneRelationship
        made.maxCount = isToOne ? 1 : relationship.maximumModelCount ?? 0
        made.minCount = isToOne ? stored?.minCount ?? 0 : relationship.minimumModelCount ?? 0
        made.isOptional = relationship.isOptional
        // Without a least number both are the same, and a class that says one of them means the other too.
        if let stored, !isToOne, made.minCount == 0, stored.minCount == 0 { made.isOptional = stored.isOptional }
        made.isOrdered = stored?.isOrdered ?? false
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

    /// The same relationship in a store; nil if that has none, or it leads elsewhere.
    private static func stored(_ relationship: Schema.Relationship, in entity: NSEntityDescription?) -> NSRelationshipDescription? {
        let known = entity?.relationshipsByName
        guard let found = known?[relationship.name] ?? known?[relationship.originalName],
            found.destinationEntity?.name == relationship.destination, found.isToMany != relationship.isToOneRelationship
        else { return nil }
        return found
    }

    private func link(_ entity: Schema.Entity) throws {
        for relationship in entity.relationships {
            guard let made = entities[entity.name]?.relationshipsByName[relationship.name] else { continue }
            guard let destination = entities[relationship.destination] else {
                throw SwiftDataError.loadIssueModelContainer.because(
                    "\(entity.name).\(relationship.name) leads to \(relationship.destination), which the schema does not have.")
            }
            guard let name = inverse(of: relationship, in: entity) else { continue }
            var owner: NSEntityDescription? = destination
            while let known = owner, known.relationshipsByName[name]?.entity !== known { owner = known.superentity }
            made.inverseRelationship = (owner ?? destination).relationshipsByName[name]
        }
    }

    /// The inverse that the classes name; where they name none, that of the store, which may be none; else the one that they imply.
    private func inverse(of relationship: Schema.Relationship, in entity: Schema.Entity) -> String? {
        guard relationship.inverseKeyPath == nil, let stored = Self.stored(relationship, in: stored[entity.name]) else {
            return relationship.inverseName
        }
        let known = schema.entitiesByName[relationship.destination]?.relationshipsByName
        if let implied = relationship.inverseName.flatMap({ known?[$0] }) {
            // The other end names this one, or the store does not have it.
            guard implied.inverseKeyPath == nil, stored.destinationEntity?.relationshipsByName[implied.name] != nil else { return implied.name }
        }
        return stored.inverseRelationship.flatMap { known?[$0.name]?.name }
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
