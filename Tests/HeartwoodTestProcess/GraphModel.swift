import Heartwood
import HeartwoodTestSupport

/// Persons in groups (one to many), with tags (many to many), a list of tasks (ordered, cascading) and a list of books (ordered, many to many).
/// Each object keeps its number, even if its ID changes.
package enum GraphModel {
    package static func make() -> NSManagedObjectModel {
        let entities = GraphKind.allCases.map { kind in
            let entity = NSEntityDescription()
            entity.name = kind.rawValue
            entity.properties = [attribute("number", .integer64AttributeType)] + kind.attributes.map { name, type in
                switch type {
                case .text: attribute(name, .stringAttributeType)
                case .integer: attribute(name, .integer32AttributeType)
                case .double: attribute(name, .doubleAttributeType)
                default: attribute(name, .binaryDataAttributeType)
                }
            }
            return entity
        }
        let person = entities[0], group = entities[1], tag = entities[2], task = entities[3], book = entities[4]
        let age = NSFetchIndexDescription(
            name: "byAge", elements: [NSFetchIndexElementDescription(property: person.propertiesByName["age"]!, collationType: .binary)])
        connect(person, "group", isToMany: false, group, "people")
        connect(person, "tags", tag, "people")
        connect(person, "tasks", isOrdered: true, rule: .cascadeDeleteRule, task, "owner", isInverseToMany: false)
        connect(person, "books", isOrdered: true, book, "readers")
        person.indexes = [age]
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func connect(
        _ source: NSEntityDescription, _ name: String, isToMany: Bool = true, isOrdered: Bool = false,
        rule: NSDeleteRule = .nullifyDeleteRule, _ destination: NSEntityDescription, _ inverseName: String, isInverseToMany: Bool = true
    ) {
        let relationship = NSRelationshipDescription(), inverse = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOrdered = isOrdered
        relationship.deleteRule = rule
        inverse.name = inverseName
        inverse.destinationEntity = source
        inverse.maxCount = isInverseToMany ? 0 : 1
        inverse.deleteRule = .nullifyDeleteRule
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        source.properties.append(relationship)
        destination.properties.append(inverse)
    }
}

extension GraphKind {
    /// The attributes except the number, in the order of their columns: several texts, which a row stores next to each other.
    package var attributes: [(name: String, type: ValueDomain.Kind)] {
        let all: [(name: String, type: ValueDomain.Kind)] = [
            ("name", .text), ("height", .double), ("note", .text), ("code", .bytes), ("motto", .text)]
        return self == .person ? all + [("age", .integer(bits: 32))] : all
    }
}
