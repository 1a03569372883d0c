import CoreData

/// Jokes, by key-value coding and by UUID. `Joke` is made from the model by the build plugin.
class JokeStore {
    private let container: PersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init(url: URL) {
        container = PersistentContainer(name: "Jokes")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { _, error in
            if let error = error as NSError? { fatalError("Unresolved error \(error), \(error.userInfo)") }
        }
    }

    func insert(setup: String, punchline: String) -> UUID {
        let id = UUID()
        guard let entity = NSEntityDescription.entity(forEntityName: "Joke", in: context) else { fatalError("The model has no jokes") }
        let joke = NSManagedObject(entity: entity, insertInto: context)
        joke.setValue(id, forKey: "id")
        joke.setValue(setup, forKey: "setup")
        joke.setValue(punchline, forKey: "punchline")
        container.saveContext()
        return id
    }

    func fetchAll() -> [Joke] {
        do {
            return try context.fetch(Joke.fetchRequest()) as? [Joke] ?? []
        } catch {
            print("Failed to fetch jokes: \(error)")
            return []
        }
    }

    func fetch(id: UUID) -> Joke? {
        let request: NSFetchRequest<Joke> = Joke.fetchRequest()
        request.predicate = NSPredicate(format: "id == %@", id as CVarArg)
        return try? context.fetch(request).first
    }

    func update(id: UUID, punchline: String) {
        guard let joke = fetch(id: id) else { return }
        joke.punchline = punchline
        container.saveContext()
    }

    func delete(id: UUID) {
        guard let joke = fetch(id: id) else { return }
        context.delete(joke)
        container.saveContext()
    }
}
