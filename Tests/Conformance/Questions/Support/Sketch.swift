import Foundation

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// Models in short notation.
enum Sketch {
    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, optional: Bool = true, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        return attribute
    }

    static func transient(_ name: String, _ type: NSAttributeType = .stringAttributeType) -> NSAttributeDescription {
        let attribute = attribute(name, type)
        attribute.isTransient = true
        return attribute
    }

    static func checked(_ name: String, _ type: NSAttributeType, _ rules: String...) -> NSAttributeDescription {
        let attribute = attribute(name, type)
        attribute.setValidationPredicates(rules.map { NSPredicate(format: $0) }, withValidationWarnings: rules)
        return attribute
    }

    static func entity(
        _ name: String, _ properties: [NSPropertyDescription], of type: NSManagedObject.Type = NSManagedObject.self
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        entity.properties = properties
        return entity
    }

    enum Arity { case one, many, ordered }

    /// A relationship without its inverse, which is added later.
    @discardableResult
    static func relationship(
        _ entity: NSEntityDescription, _ name: String, _ arity: Arity, to other: NSEntityDescription,
        rule: NSDeleteRule = .nullifyDeleteRule, optional: Bool = true
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = other
        relationship.maxCount = arity == .one ? 1 : 0
        relationship.isOrdered = arity == .ordered
        relationship.deleteRule = rule
        relationship.isOptional = optional
        entity.properties += [relationship]
        return relationship
    }

    static func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
        one.inverseRelationship = other
        other.inverseRelationship = one
    }

    static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// Authors with books, books with tags and with ordered chapters, and novels, which are books.
    static func library() -> NSManagedObjectModel {
        let author = entity("Author", [attribute("name"), attribute("born", .integer32AttributeType)])
        let book = entity("Book", [
            attribute("title"), attribute("pages", .integer32AttributeType, default: 0), attribute("price", .decimalAttributeType),
            attribute("rating", .doubleAttributeType), attribute("isRead", .booleanAttributeType, default: false),
            attribute("printed", .dateAttributeType), attribute("cover", .binaryDataAttributeType), attribute("key", .UUIDAttributeType),
            attribute("page", .URIAttributeType), transient("mood"),
        ])
        let novel = entity("Novel", [attribute("genre")])
        let tag = entity("Tag", [attribute("label")])
        let chapter = entity("Chapter", [attribute("heading")])
        book.subentities = [novel]
        pair(relationship(author, "books", .many, to: book), relationship(book, "author", .one, to: author))
        pair(relationship(book, "tags", .many, to: tag), relationship(tag, "books", .many, to: book))
        pair(
            relationship(book, "chapters", .ordered, to: chapter, rule: .cascadeDeleteRule),
            relationship(chapter, "book", .one, to: book))
        return model(author, book, novel, tag, chapter)
    }

    /// An entity "Item" with a name and a number, and further properties.
    static func items(_ more: [NSPropertyDescription] = [], unique: [[String]] = [], of type: NSManagedObject.Type = NSManagedObject.self)
        -> NSManagedObjectModel
    {
        let item = entity("Item", [attribute("name"), attribute("number", .integer64AttributeType)] + more, of: type)
        if !unique.isEmpty { item.uniquenessConstraints = unique }
        return model(item)
    }
}
