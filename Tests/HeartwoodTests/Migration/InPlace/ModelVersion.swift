import Foundation

@testable import Heartwood

/// A version of a model in a form that tests can change, with the former name of each part.
struct ModelVersion {
    struct Attribute {
        var name: String
        var was: String?
        var type = NSAttributeType.stringAttributeType
        var isOptional = true
        var initial: Any?
        var isExternal = false
        var derivation: String?
    }

    struct Relationship {
        var name: String
        var was: String?
        var destination: String
        var inverse: String?
        var isToMany = true
        var isOrdered = false
        var isOptional = true
    }

    struct Entity {
        var name: String
        var was: String?
        var parent: String?
        var isAbstract = false
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
        var unique: [[String]] = []
        /// By name: keys, and the predicate of a partial index.
        var indexes: [(name: String, keys: [String], predicate: String?)] = []
    }

    var entities: [Entity]

    init(_ entities: Entity...) { self.entities = entities }

    subscript(name: String) -> Entity {
        get { entities.first { $0.name == name }! }
        set { entities[entities.firstIndex { $0.name == name }!] = newValue }
    }

    /// The entity and its ancestors.
    func line(of name: String) -> [Entity] {
        let entity = self[name]
        return [entity] + (entity.parent.map(line) ?? [])
    }

    /// The entity and its descendants that have objects.
    func family(of name: String) -> [String] {
        entities.filter { entity in !entity.isAbstract && line(of: entity.name).contains { $0.name == name } }.map(\.name)
    }

    func attributes(of name: String) -> [Attribute] { line(of: name).flatMap(\.attributes) }

    func relationships(of name: String) -> [Relationship] { line(of: name).flatMap(\.relationships) }

    func model() -> NSManagedObjectModel {
        var made: [String: NSEntityDescription] = [:]
        for entity in entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.renamingIdentifier = entity.was
            description.isAbstract = entity.isAbstract
            made[entity.name] = description
        }
        var relationships: [String: NSRelationshipDescription] = [:]
        for entity in entities {
            let attributes = entity.attributes.map(Self.attribute)
            let ends = entity.relationships.map { end in
                let relationship = TestStack.relationship(end.name, to: made[end.destination]!, toMany: end.isToMany, ordered: end.isOrdered)
                relationship.renamingIdentifier = end.was
                relationship.isOptional = end.isOptional
                relationships["\(entity.name).\(end.name)"] = relationship
                return relationship
            }
            made[entity.name]!.properties = attributes + ends
            made[entity.name]!.uniquenessConstraints = entity.unique
            made[entity.name]!.subentities = entities.filter { $0.parent == entity.name }.map { made[$0.name]! }
        }
        for entity in entities {
            for end in entity.relationships {
                guard let inverse = end.inverse,
                    let owner = line(of: end.destination).first(where: { $0.relationships.contains { $0.name == inverse } })
                else { continue }
                relationships["\(entity.name).\(end.name)"]!.inverseRelationship = relationships["\(owner.name).\(inverse)"]
            }
            made[entity.name]!.indexes = entity.indexes.map { index in
                TestStack.index(
                    index.name, index.keys.map { ($0, true) }, among: made[entity.name]!.propertiesByName, where: index.predicate)
            }
        }
        let model = NSManagedObjectModel()
        model.entities = entities.map { made[$0.name]! }
        return model
    }

    private static func attribute(_ stated: Attribute) -> NSAttributeDescription {
        let attribute: NSAttributeDescription
        if let derivation = stated.derivation {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = NSExpression(format: derivation)
            attribute = derived
        } else {
            attribute = NSAttributeDescription()
        }
        attribute.name = stated.name
        attribute.renamingIdentifier = stated.was
        attribute.attributeType = stated.type
        attribute.isOptional = stated.isOptional
        attribute.defaultValue = stated.initial
        attribute.allowsExternalBinaryDataStorage = stated.isExternal
        return attribute
    }
}
