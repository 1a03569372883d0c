import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// An app whose diary lies in an SQLite store, with the model as a file in its resources.
struct DiaryApp {
    let folder: URL
    /// Of the current version of the model.
    let model: NSManagedObjectModel

    var file: URL { folder.appendingPathComponent("app.sqlite") }
    var original: URL { folder.appendingPathComponent("app.sqlite-original") }

    /// Makes the store and the model's file, calls `body`, and removes them.
    static func with<Result>(_ body: (DiaryApp) throws -> Result) throws -> Result {
        try CoreDataStoreFiles.withMadeStore("app") { made in
            let source = made.folder.appendingPathComponent("Diary.xcdatamodeld")
            try ModelFileWriter.write(try CoreDataStoreModel.find(storeAt: made.store.path).model, to: source)
            return try body(DiaryApp(folder: made.folder, model: try NSManagedObjectModel.load(contentsOf: source)))
        }
    }

    /// A container as an app makes it after Apple's documentation: a name, a model, a description with a URL.
    func container(
        model: NSManagedObjectModel? = nil, at url: URL? = nil, _ change: (NSPersistentStoreDescription) -> Void = { _ in }
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Diary", managedObjectModel: model ?? self.model)
        let description = NSPersistentStoreDescription(url: url ?? file)
        change(description)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    /// Removes the container's stores, as the end of a program does.
    static func quit(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    static func request(_ entity: String, _ format: String? = nil, sort: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    /// The entries' titles, by number.
    static func titles(_ container: NSPersistentContainer) throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(request("Entry", sort: "number")).compactMap { $0.value(forKey: "title") as? String }
        }
    }

    static let titles = ["One", "Two", "Three", "Alone", "Five"]

    /// Adds an entry in a context of its own.
    static func add(_ title: String, _ number: Int, to container: NSPersistentContainer, author: String? = nil) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            entry.setValue(title, forKey: "title")
            entry.setValue(number, forKey: "number")
            if let author { entry.setValue(try context.fetch(request("Author", "name == '\(author)'")).first, forKey: "author") }
            try context.save()
        }
    }
}
