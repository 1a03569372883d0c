import SwiftData

@Model final class Shelf {
    var name: String
    var items: [Item] = []

    init(name: String) { self.name = name }
}

@Model final class Item {
    var name: String
    var price: Double
    var shelf: Shelf?

    init(name: String, price: Double, shelf: Shelf) {
        (self.name, self.price, self.shelf) = (name, price, shelf)
    }
}

let context = try ModelContainer(for: Item.self).mainContext

if try context.fetchCount(FetchDescriptor<Item>()) == 0 {
    let tools = Shelf(name: "Tools")
    for (name, price) in [("Axe", 39.0), ("Saw", 24.5), ("Rope", 8.0)] {
        context.insert(Item(name: name, price: price, shelf: tools))
    }
    try context.save()
}

let cheap = #Predicate<Item> { $0.shelf?.name == "Tools" && $0.price < 30 }
for item in try context.fetch(FetchDescriptor(predicate: cheap, sortBy: [SortDescriptor(\.price)])) { print(item.name, item.price) }
