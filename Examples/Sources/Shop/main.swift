import Foundation
import Heartwood

let container = NSPersistentContainer(name: "Shop")  // reads Shop.xcdatamodeld
container.loadPersistentStores { _, error in
    if let error { fatalError("The store does not open: \(error)") }
}
let context = container.viewContext

if try context.count(for: Item.fetchRequest()) == 0 {
    let tools = Shelf(context: context)  // a class that the plugin makes from the model
    tools.name = "Tools"
    for (name, price) in [("Axe", 39.0), ("Saw", 24.5), ("Rope", 8.0)] {
        let item = Item(context: context)
        (item.name, item.price, item.shelf) = (name, price, tools)
    }
    try context.save()
}

let request = Item.fetchRequest()
request.predicate = NSPredicate(format: "shelf.name == %@ AND price < 30", "Tools")
request.sortDescriptors = [NSSortDescriptor(keyPath: \Item.price, ascending: true)]
for item in try context.fetch(request) { print(item.name ?? "", item.price) }
