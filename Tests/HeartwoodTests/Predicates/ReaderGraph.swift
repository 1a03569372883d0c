import Foundation

@_spi(GeneratedCode) @testable import Heartwood

/// Readers, their club and their books: classes in a program's form, with accessors of each kind.
final class Reader: NSManagedObject {
    enum Level: Int16, Codable { case plain, silver, gold }

    var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
    /// Null is read as "".
    var city: String { value(forKey: "city") as? String ?? "" }
    /// Null is read as 0.
    var age: Int {
        get { value(forKey: "age") as? Int ?? 0 }
        set { setValue(newValue, forKey: "age") }
    }
    var points: Int? { value(forKey: "points") as? Int }
    var ratio: Double? { value(forKey: "ratio") as? Double }
    var isActive: Bool { value(forKey: "isActive") as? Bool ?? false }
    var born: Date? { value(forKey: "born") as? Date }
    var code: UUID? { value(forKey: "code") as? UUID }
    var level: Level { Level(rawValue: value(forKey: "level") as! Int16)! }
    /// Null is read as the program's default.
    var grade: Level { Level(rawValue: value(forKey: "grade") as? Int16 ?? 0) ?? .plain }
    var since: Date { value(forKey: "born") as? Date ?? .distantPast }
    var nick: String? { value(forKey: "name") as? String ?? "none" }
    /// An accessor of the plugin for a property that is declared never to be null.
    var birth: Date { requiredValue(managedDate(at: 7), at: 7) }
    var club: Club? { value(forKey: "club") as? Club }
    var books: Set<Book> { value(forKey: "books") as? Set<Book> ?? [] }
    var friends: NSSet? { value(forKey: "friends") as? NSSet }

    // The store does not have this value.
    var isAdult: Bool { age >= 18 }
    var loudName: String? { name?.uppercased() }
    var halfAge: Int { age / 2 }
    var title: String { "\(name ?? "") \(city)" }
    var longBooks: Set<Book> { books.filter { $0.pages > 100 } }
    var clubTitle: String? { club?.title }
    var clubRating: Int { club?.rating ?? -1 }
    var clubName: String { club?.title ?? "none" }
    var nameOrCity: String { value(forKey: "name") as? String ?? city }
    var memory = 3
}

final class Club: NSManagedObject {
    // By index, in the order of the entity's properties.
    var title: String { managedString(at: 0) ?? "" }
    var rating: Int { Int(managedInteger(at: 1)!) }
    var motto: String? { managedString(at: 2) }
    var parent: Club? { managedObject(at: 3) as? Club }
    var readers: Set<Reader> { Set(managedObjects(at: 5).compactMap { $0 as? Reader }) }
}

final class Book: NSManagedObject {
    var title: String? { value(forKey: "title") as? String }
    var pages: Int { value(forKey: "pages") as! Int }
    var owner: Reader { value(forKey: "owner") as! Reader }
}

class Ware: NSManagedObject {
    var price: Int { Int(managedInteger(at: 0) ?? 0) }
}

final class Cup: Ware {
    var volume: Int { Int(managedInteger(at: 1) ?? 0) }
}

enum ReaderGraph {
    static let uuid = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")!

    static func model() -> NSManagedObjectModel {
        let reader = NSEntityDescription(), club = NSEntityDescription(), book = NSEntityDescription()
        (reader.name, club.name, book.name) = ("Reader", "Club", "Book")
        reader.managedObjectClassName = NSStringFromClass(Reader.self)
        club.managedObjectClassName = NSStringFromClass(Club.self)
        book.managedObjectClassName = NSStringFromClass(Book.self)
        let toClub = TestStack.relationship("club", to: club, toMany: false), readers = TestStack.relationship("readers", to: reader, toMany: true)
        let books = TestStack.relationship("books", to: book, toMany: true), owner = TestStack.relationship("owner", to: reader, toMany: false)
        let friends = TestStack.relationship("friends", to: reader, toMany: true)
        let parent = TestStack.relationship("parent", to: club, toMany: false),
            children = TestStack.relationship("children", to: club, toMany: true)
        TestStack.connect(toClub, readers)
        TestStack.connect(books, owner)
        TestStack.connect(parent, children)
        friends.inverseRelationship = friends
        let name = TestStack.attribute("name", .stringAttributeType), age = TestStack.attribute("age", .integer32AttributeType)
        reader.properties = [
            TestStack.attribute("id", .stringAttributeType), name, TestStack.attribute("city", .stringAttributeType), age,
            TestStack.attribute("points", .integer64AttributeType), TestStack.attribute("ratio", .doubleAttributeType),
            TestStack.attribute("isActive", .booleanAttributeType), TestStack.attribute("born", .dateAttributeType),
            TestStack.attribute("code", .UUIDAttributeType),
            TestStack.attribute("level", .integer16AttributeType, optional: false, default: 0), toClub, books, friends,
            TestStack.attribute("grade", .integer16AttributeType),
        ]
        reader.indexes = [TestStack.index("byAge", [age]), TestStack.index("byName", [name])]
        club.properties = [
            TestStack.attribute("title", .stringAttributeType),
            TestStack.attribute("rating", .integer32AttributeType, optional: false, default: 1),
            TestStack.attribute("motto", .stringAttributeType), parent, children, readers,
        ]
        book.properties = [
            TestStack.attribute("title", .stringAttributeType),
            TestStack.attribute("pages", .integer32AttributeType, optional: false, default: 0), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [reader, club, book]
        return model
    }

    /// Saves the graph. Unset values are null.
    static func fill(_ stack: TestStack) throws -> [Reader] {
        let top = stack.insert("Club", ["title": "top", "rating": 9]), plain = stack.insert("Club", ["rating": 2])
        plain.setValue(top, forKey: "parent")
        top.setValue("read", forKey: "motto")
        func book(_ title: String?, _ pages: Int) -> NSManagedObject {
            let book = stack.insert("Book", ["pages": pages])
            book.setValue(title, forKey: "title")
            return book
        }
        func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
        let rows: [[String: Any]] = [
            ["id": "a", "name": "Ada", "city": "Rome", "age": 36, "points": 5, "ratio": 0.5, "isActive": true, "born": date(0), "code": uuid,
             "level": 2, "grade": 2, "club": top, "books": Set([book("Logs", 300), book("Trees", 90)])],
            ["id": "b", "name": "Bob", "age": 17, "points": -3, "ratio": -1.5, "isActive": false, "level": 1, "grade": 0, "club": plain,
             "books": Set([book(nil, 10)])],
            ["id": "c", "name": "ada lovelace", "city": "Oslo", "age": 0, "points": 0, "born": date(100), "club": top],
            ["id": "d", "city": "", "points": 40, "isActive": true, "books": Set([book("Logs", 5), book("x", 200)])],
            ["id": "e", "name": "Éva", "city": "Rome", "age": -4, "ratio": 2, "born": date(-50), "club": plain],
            ["id": "f"],
        ]
        let readers = rows.map { stack.insert("Reader", $0) }
        readers[0].setValue(Set([readers[1], readers[2]]), forKey: "friends")
        try stack.context.save()
        return readers.map { $0 as! Reader }
    }

    static func ids(_ readers: [Reader]) -> String { readers.map { $0.value(forKey: "id") as! String }.sorted().joined() }
}
