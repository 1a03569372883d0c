import Foundation
@_spi(GeneratedCode) import Heartwood
import Synchronization

/// Finds the class of a snapshot by the identifier, which names only the entity.
enum SnapshotClasses {
    private struct WeakModel { weak var mapped: MappedModel? }

    private static let stores = Mutex<[String: WeakModel]>([:])

    /// Lets snapshots of a store find the classes of its schema. Several schemas of a program may have an entity of one name.
    static func publish(_ mapped: MappedModel, forStore identifier: String) {
        let entry = WeakModel(mapped: mapped)
        stores.withLock { $0[identifier] = entry }
    }

    /// The class of the store's schema, or else all classes of the name, the youngest first.
    static func types(of identifier: PersistentIdentifier) -> [ModelType] {
        let name = identifier.entityName
        if let store = identifier.storeIdentifier, let type = stores.withLock({ $0[store]?.mapped })?.type(named: name) { return [type] }
        return ModelType.all(named: name).reversed()
    }
}

/// Values of properties that a snapshot lacks: an older version of the class may have saved it.
enum SnapshotDefaults {
    /// - Throws: `DecodingError` where the class has none.
    static func value(of property: ModelProperty, at path: [any CodingKey]) throws -> Any? {
        if let value = property.defaultValue, case .attribute = property.kind { return value }
        guard property.mayBeNil else { throw missing(property, at: path) }
        return nil
    }

    static func missing(_ property: ModelProperty, at path: [any CodingKey]) -> DecodingError {
        .valueNotFound(
            property.valueType, .init(codingPath: path, debugDescription: "A snapshot has no value for \(property.name), which must have one."))
    }
}

extension ModelProperty {
    /// Whether a snapshot may lack the property: a model without a destination can be read, and an empty relationship is one.
    var mayBeNil: Bool { isOptional || destination != nil }

    var isTransient: Bool { (declaration as? Schema.Attribute)?.isTransient == true }

    /// Describes a property that its value transformer makes bytes; nil for another one.
    var transformedAttribute: NSAttributeDescription? {
        guard let attribute = declaration as? Schema.Attribute, attribute.isTransformable else { return nil }
        let made = NSAttributeDescription()
        made.name = name
        made.attributeType = .transformableAttributeType
        made.valueTransformerName = attribute.transformerName
        return made
    }
}

extension ModelStorage {
    /// The values as a snapshot has them.
    final var snapshotValues: [String: Any] {
        if let object { return object.snapshotValues }
        var result: [String: Any] = [:]
        for (property, value) in zip(modelType.own, values) where !property.isTransient {
            result[property.name] = Self.snapshotValue(value, property)
        }
        return result
    }

    private static func snapshotValue(_ value: LooseValue, _ property: ModelProperty) -> Any? {
        switch property.kind {
        case .attribute(let coding): coding.value(of: value).flatMap(Unwrapping.value)
        case .toOne: value.members.first?.persistentModelID
        case .toMany:
            if case .models(let models?) = value { models.map(\.persistentModelID) } else { nil }
        case .unfit: nil
        }
    }
}

extension ModelObject {
    /// The identity that a store knows, or, before the first save, the one that the program was told.
    var snapshotIdentifier: PersistentIdentifier { insertedIdentity ?? PersistentIdentifier(objectID) }

    /// The values as a snapshot has them.
    var snapshotValues: [String: Any] {
        var result: [String: Any] = [:]
        for place in mapped.allPlaces where place.index >= 0 && !place.property.isTransient {
            switch place.property.kind {
            case .attribute:
                result[place.property.name] = place.attribute.flatMap { place.coding?.readAny(self, at: $0) }.flatMap(Unwrapping.value)
            case .toOne: result[place.property.name] = (managedObject(at: place.index) as? ModelObject)?.snapshotIdentifier
            case .toMany: result[place.property.name] = managedObjects(at: place.index).compactMap { ($0 as? ModelObject)?.snapshotIdentifier }
            case .unfit: continue
            }
        }
        return result
    }
}
