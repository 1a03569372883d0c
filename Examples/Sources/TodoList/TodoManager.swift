import Foundation
import Heartwood

/// The one place of the program that knows the store. `TodoItem` is made from the model by the build plugin.
@MainActor
final class TodoManager {
    static let shared = TodoManager()

    let container: NSPersistentContainer
    /// Where the list is kept; a real program would say where.
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("todo-\(UUID().uuidString).heartwood")
    var context: NSManagedObjectContext { container.viewContext }

    private init() {
        guard let file = Bundle.module.url(forResource: "Todo", withExtension: "xcdatamodeld"),
            let model = try? NSManagedObjectModel.load(contentsOf: file)
        else { preconditionFailure("the model is a resource of this target") }
        container = NSPersistentContainer(name: "Todo", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
        container.loadPersistentStores { _, error in precondition(error == nil, "\(String(describing: error))") }
    }

    func add(_ title: String, date: Date) throws {
        let item = TodoItem(context: context)
        item.title = title
        item.date = date
        try context.save()
    }

    /// All items, or those that a predicate is true of, the earliest first.
    func items(where predicate: NSPredicate? = nil) throws -> [TodoItem] {
        let request = TodoItem.fetchRequest()
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
        return try context.fetch(request)
    }

    func finish(where predicate: NSPredicate) throws {
        for item in try items(where: predicate) { item.isDone = true }
        try context.save()
    }

    func delete(where predicate: NSPredicate) throws {
        for item in try items(where: predicate) { context.delete(item) }
        try context.save()
    }
}
