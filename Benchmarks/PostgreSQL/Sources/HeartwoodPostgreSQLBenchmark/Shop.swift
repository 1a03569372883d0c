import Foundation
@_spi(GeneratedCode) import Heartwood

/// The model of the benchmark: the tables of schema.sql as entities.
enum Shop {
    static let books = 100_000, authors = 1_000, newRows = 10_000, changes = 1_000, threads = 16

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    private static func toAuthor(_ author: NSEntityDescription) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.maxCount) = ("author", author, 1)
        return relationship
    }

    /// An entity with a book's columns and indexes.
    private static func book(_ name: String, isUnique: Bool, _ author: NSRelationshipDescription) -> NSEntityDescription {
        let entity = NSEntityDescription(), isbn = attribute("isbn", .integer64AttributeType)
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(Book.self)
        entity.properties = [
            attribute("title", .stringAttributeType), isbn, attribute("price", .doubleAttributeType), attribute("published", .dateAttributeType), author,
        ]
        if isUnique { entity.uniquenessConstraints = [["isbn"]] } else { entity.indexes = [index(isbn)] }
        return entity
    }

    private static func index(_ property: NSPropertyDescription) -> NSFetchIndexDescription {
        NSFetchIndexDescription(name: "by" + property.name, elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
    }

    static func model() -> NSManagedObjectModel {
        let author = NSEntityDescription(), toAuthor = toAuthor(author), books = NSRelationshipDescription()
        author.name = "Author"
        author.managedObjectClassName = NSStringFromClass(Author.self)
        let book = book("Book", isUnique: false, toAuthor)
        (books.name, books.destinationEntity, books.inverseRelationship, toAuthor.inverseRelationship) = ("books", book, toAuthor, books)
        author.properties = [attribute("name", .stringAttributeType), books]
        let others = [("Fresh", false), ("FreshUnique", true)].map { name, isUnique in
            let toAuthor = self.toAuthor(author), entity = self.book(name, isUnique: isUnique, toAuthor)
            entity.indexes.append(index(toAuthor))
            return entity
        }
        let model = NSManagedObjectModel()
        model.entities = [author, book] + others
        return model
    }
}

/// Accessors by property index, in the order of `Shop.model()`, as generated code has them.
final class Author: NSManagedObject {
    var name: String? {
        get { managedString(at: 0) }
        set { setManagedString(newValue, at: 0) }
    }
}

final class Book: NSManagedObject {
    var title: String? {
        get { managedString(at: 0) }
        set { setManagedString(newValue, at: 0) }
    }

    var isbn: Int64 {
        get { managedInteger(at: 1) ?? 0 }
        set { setManagedInteger(newValue, at: 1) }
    }

    var price: Double {
        get { managedDouble(at: 2) ?? 0 }
        set { setManagedDouble(newValue, at: 2) }
    }

    var published: Date? {
        get { managedDate(at: 3) }
        set { setManagedDate(newValue, at: 3) }
    }

    var author: Author? {
        get { managedObject(at: 4) as? Author }
        set { setManagedObject(newValue, at: 4) }
    }
}
