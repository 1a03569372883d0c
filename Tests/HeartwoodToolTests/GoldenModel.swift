import Foundation

@testable import Heartwood

/// The golden store's model: every attribute type, external data, every kind of relationship, inheritance, constraints and indexes.
enum GoldenModel {
    static let attributeTypes: [(name: String, type: NSAttributeType)] = [
        ("int16", .integer16AttributeType), ("int32", .integer32AttributeType), ("int64", .integer64AttributeType),
        ("decimal", .decimalAttributeType), ("double", .doubleAttributeType), ("float", .floatAttributeType),
        ("string", .stringAttributeType), ("bool", .booleanAttributeType), ("date", .dateAttributeType), ("data", .binaryDataAttributeType),
        ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType), ("object", .transformableAttributeType),
    ]

    /// - Parameter hasNicknames: the second version of the model has one more attribute and one more index.
    static func make(hasNicknames: Bool = true) -> NSManagedObjectModel {
        let named = entity("Named"), person = entity("Person"), employee = entity("Employee"), team = entity("Team")
        let tag = entity("Tag"), task = entity("Task"), place = entity("Place"), entry = entity("Entry")
        named.isAbstract = true
        named.subentities = [person, tag]
        person.subentities = [employee]
        let name = attribute("name", .stringAttributeType)
        let tags = relationship("tags", to: tag, toMany: true), tagged = relationship("bearers", to: named, toMany: true)
        connect(tags, tagged)
        named.properties = [name, tags]
        let partner = relationship("partner", to: person, toMany: false), boss = relationship("boss", to: employee, toMany: false)
        partner.inverseRelationship = partner
        let friends = relationship("friends", to: person, toMany: true)
        friends.inverseRelationship = friends
        let watched = relationship("watched", to: tag, toMany: true)
        let tasks = relationship("tasks", to: task, toMany: true, ordered: true, rule: .cascadeDeleteRule)
        let owner = relationship("owner", to: person, toMany: false)
        connect(tasks, owner)
        let route = relationship("route", to: place, toMany: true, ordered: true), visitors = relationship("visitors", to: person, toMany: true)
        connect(route, visitors)
        let email = attribute("email", .stringAttributeType), birthday = attribute("birthday", .dateAttributeType)
        let nickname = attribute("nickname", .stringAttributeType), memo = attribute("memo", .stringAttributeType)
        memo.isTransient = true
        person.properties = [email, birthday, memo, partner, boss, friends, watched, tasks, route] + (hasNicknames ? [nickname] : [])
        person.uniquenessConstraints = [["email"]]
        person.indexes = [index("byBirthday", [(birthday, false), (name, true)])] + (hasNicknames ? [index("byNickname", [(nickname, false)])] : [])
        let salary = attribute("salary", .decimalAttributeType)
        let toTeam = relationship("team", to: team, toMany: false), members = relationship("members", to: employee, toMany: true)
        connect(toTeam, members)
        employee.properties = [salary, toTeam]
        employee.indexes = [index("byTeam", [(toTeam, true), (salary, false)])]
        let number = attribute("number", .integer32AttributeType), title = attribute("title", .stringAttributeType)
        let founded = attribute("founded", .dateAttributeType)
        team.properties = [number, title, founded, members]
        team.uniquenessConstraints = [["title", "founded"], ["number"]]
        tag.properties = [attribute("label", .stringAttributeType), tagged]
        tag.uniquenessConstraints = [["label"]]
        task.properties = [attribute("title", .stringAttributeType), attribute("isDone", .booleanAttributeType), owner]
        let photo = attribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        place.properties = [attribute("latitude", .doubleAttributeType), photo, visitors]
        let text = attribute("text", .stringAttributeType), size = attribute("size", .integer64AttributeType)
        entry.properties = [text, size, attribute("body", .stringAttributeType)]
        entry.indexes = [index("byText", [(text, true)]), index("bySize", [(size, false), (text, false)])]
        let model = NSManagedObjectModel()
        model.entities = [named, person, employee, team, tag, task, place, entry, everything()]
        model.versionIdentifiers = [hasNicknames ? "2" : "1"]
        return model
    }

    /// One attribute of each type, with an ascending and a descending index.
    private static func everything() -> NSEntityDescription {
        let everything = entity("Everything")
        let all = attributeTypes.map { attribute($0.name, $0.type) }
        everything.properties = all
        everything.indexes = all.filter { $0.name != "object" }.flatMap { attribute in
            [index("up.\(attribute.name)", [(attribute, true)]), index("down.\(attribute.name)", [(attribute, false), (all[6], false)])]
        }
        return everything
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, toMany: Bool, ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = ordered
        relationship.deleteRule = rule
        return relationship
    }

    private static func connect(_ a: NSRelationshipDescription, _ b: NSRelationshipDescription) {
        a.inverseRelationship = b
        b.inverseRelationship = a
    }

    private static func index(_ name: String, _ parts: [(NSPropertyDescription, Bool)]) -> NSFetchIndexDescription {
        NSFetchIndexDescription(name: name, elements: parts.map { property, isAscending in
            let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
            element.isAscending = isAscending
            return element
        })
    }
}
