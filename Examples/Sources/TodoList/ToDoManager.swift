import CoreData

/// The one place of the program that knows the store. `ToDoData` is made from the model by the build plugin.
class ToDoManager {
    static let shared = ToDoManager()

    let container: NSPersistentContainer
    private let entityName = "ToDoData"
    private var context: NSManagedObjectContext { container.viewContext }

    private init() {
        container = NSPersistentContainer(name: "ToDo")
        // A real program leaves the description as it is: the store is then in the user's library.
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("ToDo-\(UUID().uuidString).heartwood")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
        container.loadPersistentStores { _, error in
            if let error = error as NSError? { fatalError("Unresolved error \(error), \(error.userInfo)") }
        }
    }

    @discardableResult
    func saveToDo(title: String, date: Date) -> Bool {
        guard let entity = NSEntityDescription.entity(forEntityName: entityName, in: context) else { return false }
        guard let todo = NSManagedObject(entity: entity, insertInto: context) as? ToDoData else { return false }
        todo.title = title
        todo.date = date
        return save()
    }

    func readToDos() -> [ToDoData] {
        var list: [ToDoData] = []
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
        do {
            if let fetched = try context.fetch(request) as? [ToDoData] { list = fetched }
        } catch {
            print("Could not read: \(error)")
        }
        return list
    }

    func updateToDo(_ newToDo: ToDoData) {
        guard let date = newToDo.date else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        request.predicate = NSPredicate(format: "date = %@", date as CVarArg)
        do {
            guard let fetched = try context.fetch(request) as? [ToDoData], var target = fetched.first else { return }
            target = newToDo
            save()
            print("Saved: \(target.title ?? "")")
        } catch {
            print("Could not update: \(error)")
        }
    }

    func deleteToDo(_ todo: ToDoData) {
        guard let date = todo.date else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        request.predicate = NSPredicate(format: "date = %@", date as CVarArg)
        do {
            guard let fetched = try context.fetch(request) as? [ToDoData], let target = fetched.first else { return }
            context.delete(target)
            save()
        } catch {
            print("Could not delete: \(error)")
        }
    }

    /// Whether the model lets the changes in; those that it refuses are taken back.
    @discardableResult
    private func save() -> Bool {
        guard context.hasChanges else { return true }
        do {
            try context.save()
            return true
        } catch {
            print("Refused: \(error.localizedDescription)")
            context.rollback()
            return false
        }
    }
}
