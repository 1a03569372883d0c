import Foundation
import Heartwood
import Synchronization

/// A managed object model that was made of model classes: which class each entity has, and where its properties are.
final class MappedModel: @unchecked Sendable {
    // Unchecked: immutable once it is made, save for the table of entities, which a mutex guards.

    let model: NSManagedObjectModel
    let schema: Schema
    /// Whether a store's forms were taken, which may be other ones than those of the classes.
    let isFollowing: Bool
    private let types: [String: ModelType]
    private let entities = Mutex<[String: MappedEntity]>([:])

    init(model: NSManagedObjectModel, schema: Schema, types: [String: ModelType], isFollowing: Bool = false) {
        self.model = model
        self.isFollowing = isFollowing
        self.schema = schema
        self.types = types
    }

    func type(named name: String) -> ModelType? { types[name] }

    /// The entity of a class; nil if the schema does not have the class.
    func entity(of type: ModelType) -> NSEntityDescription? {
        guard types[type.name] === type else { return nil }
        return model.entitiesByName[type.name]
    }

    /// The property at the end of keys, which lead through relationships and into composites.
    func description(at keys: [String], of type: ModelType) -> NSPropertyDescription? {
        var entity = model.entitiesByName[type.name]
        var found: NSPropertyDescription?
        for key in keys {
            let next = (found as? NSCompositeAttributeDescription)?.elements.first { $0.name == key } ?? entity?.propertiesByName[key]
            entity = (next as? NSRelationshipDescription)?.destinationEntity
            guard let next else { return nil }
            found = next
        }
        return found
    }

    func entity(_ description: NSEntityDescription) -> MappedEntity {
        let name = description.name ?? ""
        return entities.withLock { known in
            if let found = known[name] { return found }
            let made = MappedEntity(description, type: types[name])
            known[name] = made
            return made
        }
    }

    // MARK: By model

    private struct WeakModel { weak var mapped: MappedModel? }

    private static let all = Mutex<[ObjectIdentifier: WeakModel]>([:])

    /// Lets objects of the model's entities find this.
    func publish() { Self.all.withLock { $0[ObjectIdentifier(model)] = WeakModel(mapped: self) } }

    deinit {
        let key = ObjectIdentifier(model)
        Self.all.withLock { $0[key] = nil }
    }

    /// The model of an entity. One that was made otherwise has no classes.
    static func of(_ entity: NSEntityDescription) -> MappedModel {
        let model = entity.managedObjectModel
        if let found = all.withLock({ $0[ObjectIdentifier(model)]?.mapped }) { return found }
        return MappedModel(model: model, schema: Schema(), types: [:])
    }
}

/// An entity of a model that was made of model classes.
final class MappedEntity: @unchecked Sendable {
    // Unchecked: immutable after `init`.

    let entity: NSEntityDescription
    /// nil for an entity without a class.
    let type: ModelType?
    /// By level: the places of the properties that each class declares.
    private let places: [ClassPlaces]
    /// Those of all levels.
    let allPlaces: [PropertyPlace]
    /// The levels, positions and indexes of scalars.
    let scalars: [ScalarPlace]
    /// The places of other attributes, and of relationships.
    let otherPlaces: [PropertyPlace]
    /// Those of relationships alone.
    let relationshipPlaces: [PropertyPlace]
    /// The attributes for which no value can be made up.
    private let fragile: [PropertyPlace]
    /// Whether there are such attributes, so that an object may have none of their values.
    var isFragile: Bool { !fragile.isEmpty }

    struct ScalarPlace {
        let level: Int
        let position: Int
        let index: Int
    }

    init(_ entity: NSEntityDescription, type: ModelType?) {
        self.entity = entity
        self.type = type
        var levels: [[PropertyPlace]] = []
        var next = type
        while let known = next {
            levels.append(known.own.map { Self.place(of: $0, in: entity) })
            next = known.parent
        }
        places = levels.reversed().map(ClassPlaces.init)
        allPlaces = places.flatMap(\.all)
        let present = allPlaces.filter { $0.index >= 0 }
        scalars = present.filter(\.isScalar).map { ScalarPlace(level: $0.property.level, position: $0.property.position, index: $0.index) }
        otherPlaces = present.filter { !$0.isScalar }
        relationshipPlaces = allPlaces.filter { $0.property.destination != nil }
        fragile = present.filter(\.property.needsFallback)
    }

    /// An attribute of an object that cannot be read, and for which there is no other value either. No model can be made of such an object: the
    /// attribute's getter would have nothing to return.
    func unreadable(_ object: ModelObject) -> ModelProperty? {
        for place in fragile where place.property.fallback == nil {
            guard let attribute = place.attribute, let coding = place.coding else { continue }
            guard let value = coding.readAny(object, at: attribute) else { return place.property }
            place.property.keep(value)
        }
        return nil
    }

    func place(_ scalar: ScalarPlace) -> PropertyPlace { places[scalar.level].all[scalar.position] }

    func places(of type: ModelType) -> ClassPlaces { type.level < places.count ? places[type.level] : .none }

    private static func place(of property: ModelProperty, in entity: NSEntityDescription) -> PropertyPlace {
        let index = entity.propertyIndexByName[property.name] ?? -1
        guard index >= 0 else { return PropertyPlace(property: property, index: -1, attribute: nil, coding: nil, inverse: nil) }
        let description = entity.property(at: index)
        if let relationship = description as? NSRelationshipDescription {
            return PropertyPlace(property: property, index: index, attribute: nil, coding: nil, inverse: relationship.inverseRelationship?.name)
        }
        var coding: (any AttributeCoding)?
        if case .attribute(let own) = property.kind { coding = (description as? NSAttributeDescription).flatMap(own.following) ?? own }
        return PropertyPlace(
            property: property, index: index, attribute: attributePlace(description, path: property.name, index: index, in: entity),
            coding: coding, inverse: nil)
    }

    /// - Returns: nil for an attribute that the entity does not have.
    static func attributePlace(_ name: String, in entity: NSEntityDescription) -> AttributePlace? {
        guard let index = entity.propertyIndexByName[name], let attribute = entity.property(at: index) as? NSAttributeDescription else { return nil }
        return attributePlace(attribute, path: name, index: index, in: entity)
    }

    private static func attributePlace(
        _ description: NSPropertyDescription, path: String, index: Int, in entity: NSEntityDescription
    ) -> AttributePlace {
        let elements = (description as? NSCompositeAttributeDescription)?.elements ?? []
        return AttributePlace(index: index, elements: elements.compactMap { element in
            let inner = "\(path).\(element.name)"
            guard let index = entity.propertyIndexByName[inner] else { return nil }
            return (element.name, attributePlace(element, path: inner, index: index, in: entity))
        })
    }
}
