import Heartwood

/// Persons in groups (one to many), with tags (many to many), a list of tasks (ordered, cascading) and a list of books (ordered, many to
/// many). Each object has a number that it keeps, whatever becomes of its ID.
package enum GraphModel {
    package static func make() -> NSManagedObjectModel {
        let entities = GraphKind.allCases.map { kind in
            let entity = NSEntityDescription()
            entity.name = kind.rawValue
            entity.properties = [attribute("number", .integer64AttributeType), attribute("name", .stringAttributeType)]
            return entity
        }
        let person = entities[0], group = entities[1], tag = entities[2], task = entities[3], book = entities[4]
        person.properties.append(attribute("age", .integer32AttributeType))
        let age = NSFetchIndexDescription(
            name: "byAge", elements: [NSFetchIndexElementDescription(property: person.properties[2], collationType: .binary)])
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
