import Foundation
import Heartwood
import Testing

/// The plugin has made Garden and the accessors of Plant and Tree before this file is compiled.
struct ManagedPropertyTests {
    private let context: NSManagedObjectContext

    init() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Plants.xcdatamodeld")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel.load(contentsOf: path))
        _ = try coordinator.addPersistentStore(type: .inMemory, configuration: nil, at: URL(fileURLWithPath: "/dev/null"), options: nil)
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// Code written for the output of Xcode's compiler looks for this name.
    @Test
    func `The model is a resource under the name that Xcode gives it`() throws {
        let url = try #require(Bundle.module.url(forResource: "Plants", withExtension: "momd"))
        let model = try NSManagedObjectModel.load(contentsOf: url)
        #expect(model == context.persistentStoreCoordinator?.managedObjectModel)
        #expect(Bundle.module.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.map(\.lastPathComponent) == ["Plants.momd"])
        #expect(Bundle.module.url(forResource: "Plants", withExtension: "mom", subdirectory: "Plants.momd") != nil)
        #expect(NSManagedObjectModel.mergedModel(from: [Bundle.module])?.entitiesByName["Plant"] != nil)
        #expect(NSPersistentContainer(name: "Plants").managedObjectModel.entitiesByName["Plant"] != nil)
    }

    @Test
    func `Managed properties read and write the store`() throws {
        let plant = Plant(context: context)
        let date = Date(timeIntervalSinceReferenceDate: 5)
        let identifier = UUID()
        #expect(plant.name == nil && plant.count == 0 && plant.neighbours.isEmpty && plant.notes == nil)
        plant.name = "Fern"
        plant.name?.append("s")
        plant.height = 1.5
        plant.count += 7
        plant.identifier = identifier
        plant.plantedOn = date
        plant.price = NSDecimalNumber(value: 3)
        plant.notes = ["wet", "dark"]
        try context.save()
        context.reset()
        let read = try #require(try context.fetch(Plant.fetchRequest()).first)
        #expect(read.name == "Ferns" && read.height == 1.5 && read.count == 7 && read.identifier == identifier)
        #expect(read.plantedOn == date && read.price == NSDecimalNumber(value: 3) && read.notes == ["wet", "dark"])
        #expect(read.shout == "FERNS" && read[keyPath: \.count] == 7)
    }

    @Test
    func `Managed relationships keep their inverses`() throws {
        let garden = Garden(context: context)
        let fern = Plant(context: context)
        let oak = Tree(context: context)
        oak.rings = 90
        fern.garden = garden
        garden.addToPlants(oak)
        oak.neighbours.insert(fern)
        try context.save()
        #expect(garden.plants?.count == 2 && oak.garden === garden && fern.neighbours == [oak] && oak.rings == 90)
        garden.removeFromPlants(fern)
        #expect(fern.garden == nil && garden.plants?.count == 1)
    }

    @Test
    func `Managed properties report which property a key path reads`() throws {
        let trees = [Int64](arrayLiteral: 3, 1, 2).map { count in
            let tree = Tree(context: context)
            tree.count = count
            return tree
        }
        let request = NSFetchRequest<Plant>(entityName: "Plant")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Plant.count, ascending: true)]
        #expect(try context.fetch(request) == [trees[1], trees[2], trees[0]])
    }

    @Test
    func `Managed functions add and remove members`() throws {
        let fern = Plant(context: context)
        let oak = Tree(context: context)
        fern.addToNeighbours(oak)
        #expect(oak.neighbours == [fern])
        oak.removeFromNeighbours(NSSet(array: [fern]))
        #expect(fern.neighbours.isEmpty)
    }
}
