// Two stores, joined by a fetched property: the books may be replaced, or lie on a disk that cannot be written, and feedback stays as it is.
import CoreData

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Bookshop-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

// The publisher: one save, which changes both stores or neither.
do {
    let shop = Bookshop(folder: folder, booksAreReadOnly: false)
    shop.addBook(title: "Emma", isbn: "978-1")
    shop.addBook(title: "Persuasion", isbn: "978-2")
    shop.addFeedback(isbn: "978-1", rating: 3, comment: "Long.")
    shop.addFeedback(isbn: "978-1", rating: 5, comment: "Clever.")
    try shop.context.save()
}

// A reader: the books cannot be written, feedback can.
let shop = Bookshop(folder: folder, booksAreReadOnly: true)
let shelf = try shop.books()
for book in shelf { print("\(book.title ?? ""): \(book.comments.joined(separator: " "))") }
precondition(shelf.map(\.title) == ["Emma", "Persuasion"] && shelf.map(\.comments) == [["Clever.", "Long."], []])

// A fetched property is evaluated when it is first asked for, and kept until the book is refreshed.
shop.addFeedback(isbn: "978-2", rating: 4, comment: "Quiet.")
try shop.context.save()
shop.context.refresh(shelf[1], mergeChanges: true)
print("\(shelf[1].title ?? "") now: \(shelf[1].comments.joined(separator: " "))")
precondition(shelf[1].comments == ["Quiet."])

// What would change a book is refused, and the feedback of the same save with it.
shelf[0].title = "Emma, revised"
shop.addFeedback(isbn: "978-1", rating: 1, comment: "Mine now.")
do {
    try shop.context.save()
    preconditionFailure("the books were added read-only")
} catch {
    print("Refused: \(error.localizedDescription)")
    shop.context.rollback()
}
let count = try shop.context.count(for: Feedback.fetchRequest())
precondition(count == 3)
