import CoreData

/// Books in one store and what readers say of them in another. Which entities each store holds is stated by the model's configurations.
class Bookshop {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init(folder: URL, booksAreReadOnly: Bool) {
        container = NSPersistentContainer(name: "Bookshop")
        let books = NSPersistentStoreDescription(url: folder.appendingPathComponent("Books.sqlite"))
        books.configuration = "Books"
        books.isReadOnly = booksAreReadOnly
        let feedback = NSPersistentStoreDescription(url: folder.appendingPathComponent("Feedback.sqlite"))
        feedback.configuration = "Feedback"
        container.persistentStoreDescriptions = [books, feedback]
        container.loadPersistentStores { _, error in
            if let error = error as NSError? { fatalError("Unresolved error \(error), \(error.userInfo)") }
        }
    }

    func addBook(title: String, isbn: String) {
        let book = Book(context: context)
        book.title = title
        book.isbn = isbn
    }

    func addFeedback(isbn: String, rating: Int16, comment: String) {
        let feedback = Feedback(context: context)
        feedback.isbn = isbn
        feedback.rating = rating
        feedback.comment = comment
    }

    func books() throws -> [Book] {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request)
    }
}

extension Book {
    /// What the other store has of this book. A relationship cannot lead there; the model's fetched property asks by the book's number.
    var feedbackList: [Feedback]? { value(forKey: "feedbackList") as? [Feedback] }

    var comments: [String] { (feedbackList ?? []).sorted { $0.rating > $1.rating }.compactMap(\.comment) }
}
