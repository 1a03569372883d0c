import CoreData
import Testing

/// What introductions to Core Data show, written as they write it, over a model file whose classes Xcode would make: Foundation comes with the
/// import, objects are made by `NSManagedObject(entity:insertInto:)`, and a class has its fetched property from the program's own extension.

private enum Introductions {
    static let model: NSManagedObjectModel = {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Introductions.xcdatamodeld")
        return NSManagedObjectModel(contentsOf: url)!
    }()

    static func temporaryURL(_ name: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(name)")
    }
}

// A container of the program's own, which saves.

private final class PersistentContainer: NSPersistentContainer, @unchecked Sendable {
    func saveContext(backgroundContext: NSManagedObjectContext? = nil) {
        let context = backgroundContext ?? viewContext
        guard context.hasChanges else { return }
        do {
            try context.save()
        } catch let error as NSError {
            print("Error: \(error), \(error.userInfo)")
        }
    }
}

// Jokes, by key-value coding and UUID.

private final class JokeStore {
    let container: PersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init(at url: URL) {
        container = PersistentContainer(name: "Introductions", managedObjectModel: Introductions.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { _, error in
            if let error = error as NSError? { fatalError("Unresolved error \(error), \(error.userInfo)") }
        }
    }

    func insert(setup: String, punchline: String) -> UUID? {
        guard let entity = NSEntityDescription.entity(forEntityName: "Joke", in: context) else { return nil }
        let id = UUID()
        let joke = NSManagedObject(entity: entity, insertInto: context)
        joke.setValue(id, forKey: "id")
        joke.setValue(setup, forKey: "setup")
        joke.setValue(punchline, forKeyPath: "punchline")
        container.saveContext()
        return id
    }

    func all() -> [Joke] {
        do {
            return try context.fetch(Joke.fetchRequest()) as? [Joke] ?? []
        } catch {
            return []
        }
    }

    func joke(_ id: UUID) -> Joke? {
        let request: NSFetchRequest<Joke> = Joke.fetchRequest()
        request.predicate = NSPredicate(format: "id == %@", id as CVarArg)
        return try? context.fetch(request).first
    }

    func update(_ id: UUID, punchline: String) {
        joke(id)?.punchline = punchline
        container.saveContext()
    }

    func delete(_ id: UUID) {
        guard let joke = joke(id) else { return }
        context.delete(joke)
        container.saveContext()
    }
}

// Things to do, by date.

private final class ToDoManager {
    let context: NSManagedObjectContext
    var list: [ToDoData] = []

    init(_ container: NSPersistentContainer) {
        context = container.viewContext
    }

    func save(title: String, date: Date) {
        guard let entity = NSEntityDescription.entity(forEntityName: "ToDoData", in: context),
            let todo = NSManagedObject(entity: entity, insertInto: context) as? ToDoData
        else { return }
        todo.title = title
        todo.date = date
        try? context.save()
    }

    func read() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "ToDoData")
        request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
        if let found = try? context.fetch(request) as? [ToDoData] { list = found }
    }

    func update(_ new: ToDoData, at date: Date) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "ToDoData")
        request.predicate = NSPredicate(format: "date = %@", date as CVarArg)
        guard let found = try? context.fetch(request) as? [ToDoData], var target = found.first else { return }
        target.isDone = new.isDone
        target = new
        try? context.save()
    }

    func delete(at date: Date) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "ToDoData")
        request.predicate = NSPredicate(format: "date = %@", date as CVarArg)
        guard let found = try? context.fetch(request) as? [ToDoData], let target = found.first else { return }
        context.delete(target)
        try? context.save()
    }
}

// Books in one store and what readers say in another.

extension Book {
    fileprivate var feedbackList: [Feedback]? { value(forKey: "feedbackList") as? [Feedback] }
}

@MainActor @Suite struct IntroductionTests {
    @Test func jokesAreInsertedFetchedUpdatedAndDeleted() throws {
        let url = Introductions.temporaryURL("jokes")
        defer { try? FileManager.default.removeItem(at: url) }
        let id: UUID
        do {
            let store = JokeStore(at: url)
            id = try #require(store.insert(setup: "A log walks into a bar.", punchline: "It appends."))
            _ = store.insert(setup: "Two tables meet.", punchline: "Do they join?")
            #expect(store.all().compactMap(\.setup).sorted() == ["A log walks into a bar.", "Two tables meet."])
            store.update(id, punchline: "It commits.")
        }
        let again = JokeStore(at: url)
        #expect(again.joke(id)?.punchline == "It commits.")
        again.delete(id)
        #expect(again.all().map(\.punchline) == ["Do they join?"] && !again.context.hasChanges)
    }

    @Test func thingsToDoAreKeptByTheirDates() throws {
        let container = NSPersistentContainer(name: "Introductions", managedObjectModel: Introductions.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let manager = ToDoManager(container), start = Date()
        for (index, title) in ["fell", "stack", "sharpen"].enumerated() {
            manager.save(title: title, date: start.addingTimeInterval(Double(index)))
        }
        manager.read()
        #expect(manager.list.map(\.title) == ["sharpen", "stack", "fell"])
        let first = manager.list[2]
        first.isDone = true
        manager.update(first, at: start)
        manager.read()
        #expect(manager.list.map(\.isDone) == [false, false, true])
        manager.delete(at: start)
        manager.read()
        #expect(manager.list.map(\.title) == ["sharpen", "stack"])
    }

    @Test func booksAndFeedbackAreInStoresOfTheirOwn() throws {
        let folder = Introductions.temporaryURL("books")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = PersistentContainer(name: "Introductions", managedObjectModel: Introductions.model)
        container.persistentStoreDescriptions = ["Books", "Feedback"].map { name in
            let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
            description.configuration = name
            return description
        }
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.viewContext, book = Book(context: context)
        (book.title, book.isbn) = ("Emma", "978-1")
        for (isbn, rating) in [("978-1", 5), ("978-2", 1), ("978-1", 3)] {
            let feedback = Feedback(context: context)
            (feedback.isbn, feedback.rating) = (isbn, Int16(rating))
        }
        container.saveContext()
        #expect(book.feedbackList?.map(\.rating).sorted() == [3, 5])
        #expect(book.objectID.persistentStore?.url?.lastPathComponent == "Books.sqlite")
        #expect(book.feedbackList?.first?.objectID.persistentStore?.url?.lastPathComponent == "Feedback.sqlite")
    }

    @Test func theStackIsMadeByHandInFiveSteps() throws {
        // The model, the coordinator, the store, the context, the objects.
        let model = Introductions.model
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let joke = NSEntityDescription.insertNewObject(forEntityName: "Joke", into: context) as! Joke
        joke.setup = "Knock, knock."
        try context.save()
        #expect(try context.count(for: NSFetchRequest<Joke>(entityName: "Joke")) == 1)
    }
}
