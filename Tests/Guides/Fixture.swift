import Foundation
import Heartwood

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let model = NSPersistentContainer(name: "Library").managedObjectModel

/// A container over a file in `folder`.
func openLibrary(_ file: String = "library.heartwood", model: NSManagedObjectModel = model, options: [String: NSObject] = [:]) throws
    -> NSPersistentContainer
{
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: folder.appendingPathComponent(file))
    for (key, value) in options { description.setOption(value, forKey: key) }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
}

/// The error that the body throws.
func failure(_ body: () throws -> Void) -> NSError? {
    do { try body() } catch { return error as NSError }
    return nil
}

let library = try openLibrary()
let context = library.viewContext
func addBook(_ title: String, pages: Int64, by author: Author? = nil, in context: NSManagedObjectContext = context) -> Book {
    let book = Book(context: context)
    (book.title, book.pages, book.author) = (title, pages, author)
    return book
}
let austen = Author(context: context), eliot = Author(context: context), novels = Shelf(context: context)
(austen.name, eliot.name, novels.room) = ("Jane Austen", "George Eliot", "Novels")
let emma = addBook("Emma", pages: 474, by: austen), persuasion = addBook("Persuasion", pages: 249, by: austen)
let middlemarch = addBook("Middlemarch", pages: 880, by: eliot)
try context.save()
