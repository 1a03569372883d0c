// Books in one store and what readers say of them in another, joined by a fetched property: the books may be replaced, or lie on a disk
// that cannot be written, without the feedback being touched.
import Foundation
import Heartwood

final class Book: NSManagedObject {
    var title: String { value(forKey: "title") as? String ?? "" }
    /// What the other store has about this book, the best first.
    var feedback: [Feedback] { value(forKey: "feedback") as? [Feedback] ?? [] }
}

final class Feedback: NSManagedObject {
    var rating: Int { value(forKey: "rating") as? Int ?? 0 }
    var comment: String { value(forKey: "comment") as? String ?? "" }
}

func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
}

// A relationship cannot lead to another store. A fetched property asks for what has the book's number.
let book = NSEntityDescription(), feedback = NSEntityDescription()
book.name = "Book"
book.managedObjectClassName = NSStringFromClass(Book.self)
feedback.name = "Feedback"
feedback.managedObjectClassName = NSStringFromClass(Feedback.self)
let request = NSFetchRequest<any NSFetchRequestResult>()
request.entity = feedback
request.predicate = NSPredicate(format: "isbn == $FETCH_SOURCE.isbn")
request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
let ofBook = NSFetchedPropertyDescription()
ofBook.name = "feedback"
ofBook.fetchRequest = request
book.properties = [attribute("title", .stringAttributeType), attribute("isbn", .stringAttributeType), ofBook]
feedback.properties = [
    attribute("isbn", .stringAttributeType), attribute("rating", .integer16AttributeType), attribute("comment", .stringAttributeType),
]
let model = NSManagedObjectModel()
model.entities = [book, feedback]
// Which entities each store holds: a new object goes where its entity is at home.
model.setEntities([book], forConfigurationName: "Books")
model.setEntities([feedback], forConfigurationName: "Feedback")

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookshop-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

func open(booksReadOnly: Bool) -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: model)
    container.persistentStoreDescriptions = ["Books", "Feedback"].map { name in
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).heartwood"))
        description.configuration = name
        description.isReadOnly = booksReadOnly && name == "Books"
        return description
    }
    container.loadPersistentStores { _, error in precondition(error == nil, "\(String(describing: error))") }
    return container
}

func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
}

// The publisher: one save, which changes both stores or neither.
do {
    let context = open(booksReadOnly: false).viewContext
    insert("Book", ["title": "Emma", "isbn": "978-1"], context)
    insert("Book", ["title": "Persuasion", "isbn": "978-2"], context)
    insert("Feedback", ["isbn": "978-1", "rating": 3, "comment": "Long."], context)
    insert("Feedback", ["isbn": "978-1", "rating": 5, "comment": "Clever."], context)
    try context.save()
}

// A reader: the books cannot be written, feedback can.
let context = open(booksReadOnly: true).viewContext
let books = NSFetchRequest<Book>(entityName: "Book")
books.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
let shelf = try context.fetch(books)
for book in shelf { print("\(book.title): \(book.feedback.map { "\($0.rating) \($0.comment)" }.joined(separator: " "))") }
precondition(shelf.map(\.title) == ["Emma", "Persuasion"])
precondition(shelf.map { $0.feedback.map(\.rating) } == [[5, 3], []])

// It was evaluated when it was asked for, and is kept until the book is refreshed.
insert("Feedback", ["isbn": "978-2", "rating": 4, "comment": "Quiet."], context)
try context.save()
context.refresh(shelf[1], mergeChanges: true)
print("\(shelf[1].title) now: \(shelf[1].feedback.map(\.comment).joined(separator: " "))")
precondition(shelf[1].feedback.map(\.rating) == [4])

// What would change a book is refused, and the feedback of the same save with it.
shelf[0].setValue("Emma, revised", forKey: "title")
insert("Feedback", ["isbn": "978-1", "rating": 1, "comment": "Mine now."], context)
do {
    try context.save()
    preconditionFailure("the books were added read-only")
} catch {
    print("Refused: \(error.localizedDescription)")
    context.rollback()
}
let count = try context.count(for: NSFetchRequest<Feedback>(entityName: "Feedback"))
precondition(count == 3)
