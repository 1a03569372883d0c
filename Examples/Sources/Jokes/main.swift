// Jokes in categories, by key-value coding alone: no class, and the import that code for Apple's platforms has.
import CoreData
import Foundation

guard let file = Bundle.module.url(forResource: "Jokes", withExtension: "xcdatamodeld") else {
    preconditionFailure("the model is a resource of this target")
}
let container = NSPersistentContainer(name: "Jokes", managedObjectModel: try NSManagedObjectModel.load(contentsOf: file))
let description = NSPersistentStoreDescription()
description.type = NSInMemoryStoreType
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in precondition(error == nil, "\(String(describing: error))") }
let context = container.viewContext

func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValue(UUID(), forKey: "id")
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
}

let forest = insert("Category", ["name": "Forest"]), databases = insert("Category", ["name": "Databases"])
let first = insert("Joke", ["text": "A log walks into a bar. It appends.", "category": databases])
_ = insert("Joke", ["text": "Two tables meet. Do they join?", "category": databases])
_ = insert("Joke", ["text": "What is brown and sticky? A stick.", "category": forest])
try context.save()

// One joke by its UUID, whatever else is known of it.
let id = first.value(forKey: "id") as? UUID
let byID = NSFetchRequest<NSManagedObject>(entityName: "Joke")
byID.predicate = NSPredicate(format: "id == %@", id! as CVarArg)
let found = try context.fetch(byID)
print(found.first?.value(forKey: "text") as? String ?? "none")
precondition(found == [first] && found.first?.value(forKeyPath: "category.name") as? String == "Databases")

// Categories by how many jokes they have: a derived attribute, kept by each save.
let categories = NSFetchRequest<NSManagedObject>(entityName: "Category")
categories.sortDescriptors = [NSSortDescriptor(key: "jokeCount", ascending: false)]
let listed = try context.fetch(categories).map { "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "jokeCount") ?? 0)" }
print(listed.joined(separator: ", "))
precondition(listed == ["Databases 2", "Forest 1"])

// A category goes with its jokes.
context.delete(databases)
try context.save()
let left = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Joke"))
print("\(left) joke left")
precondition(left == 1)
