import Foundation
import Heartwood
import SwiftData
import Testing

/// The classes in Generated, which `heartwood generate --swiftdata` has written of a model with properties of all kinds, over stores of that model.
@Suite struct GeneratedClassTests {
    private static let types: [any PersistentModel.Type] = [Pilot.self, Mooring.self, Berth.self, Buoy.self, Ship.self]
    private static let key = UUID(uuid: (9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func model() throws -> NSManagedObjectModel {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try NSManagedObjectModel.load(contentsOf: tests.appending(path: "Goldens/Models/Harbour.xcdatamodel"))
    }

    /// Managed objects over a store of the model, in a queue of their own.
    private static func objects(_ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try model())
        _ = try coordinator.addPersistentStore(type: .recordLog, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func make(_ url: URL) throws {
        let context = try objects(url)
        func new(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let made = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { made.setValue(value, forKey: key) }
            return made
        }
        let ships = ["b", "a", "c"].map { new("Ship", ["label": $0]) }
        let ada = new("Pilot", ["name": "Ada", "badge": 7, "in": "house"]), ben = new("Pilot", ["name": "Ben", "badge": 8])
        ada.setValue(NSSet(array: [ben]), forKey: "neighbours")
        ada.setValue(NSSet(array: [ben]), forKey: "apprentices")
        let values: [String: Any] = [
            "code": "B1", "site": ["street": "Via Appia", "center": ["x": 1.0, "y": 2.0]], "area": 3.5, "default": 4, "depth": 0.25,
            "isWatered": false, "key": key, "link": URL(string: "https://example.org/b") as Any, "mood": ["mood": "calm"], "photo": Data([1, 2]),
            "price": NSDecimalNumber(string: "9.75"), "sown": Date(timeIntervalSinceReferenceDate: 5), "tags": ["t", "u"] as NSArray, "visits": 6,
            "pilot": ada, "ships": NSSet(array: ships),
        ]
        _ = new("Berth", values)
        _ = new("Berth", ["code": "A2", "pilot": ada, "ships": NSSet(array: [new("Ship", ["label": "d"])])])
        try context.save()
    }

    private static func expectBerth(_ context: ModelContext) throws {
        let code = "B1"
        let berth = try #require(try context.fetch(FetchDescriptor<Berth>(predicate: #Predicate { $0.code == code })).first)
        #expect(berth.site == MooringSite(center: MooringSiteCenter(x: 1, y: 2), street: "Via Appia") && berth.mood?.rawValue == "calm")
        #expect(berth.area == 3.5 && berth.default == 4 && berth.depth == 0.25 && !berth.isWatered && berth.visits == 6 && berth.price == 9.75)
        #expect(berth.key == key && berth.link?.absoluteString == "https://example.org/b" && berth.photo == Data([1, 2]))
        #expect(berth.sown == Date(timeIntervalSinceReferenceDate: 5) && berth.tags == ["t", "u"] && berth.scratch == nil)
        #expect(berth.pilot.name == "Ada" && Set(berth.ships.map(\.label)) == ["a", "b", "c"])
        let ada = berth.pilot
        #expect(ada.berths?.map(\.code) == ["B1", "A2"] && ada.neighbours?.map(\.name) == ["Ben"] && ada.apprentices?.first?.master === ada)
        #expect(ada.in == "house" && ada.country == "NO" && ada.badge == 7 && ada.search == "ada")
    }

    @Test func `A container of generated classes opens the model's store as it is`() throws {
        try MadeStores.withFolder { folder in
            let url = folder.appending(path: "harbour.store")
            try Self.make(url)
            let container = try ModelContainer(for: Schema(Self.types), configurations: ModelConfiguration(url: url))
            let context = ModelContext(container)
            try Self.expectBerth(context)
            let eve = Pilot(badge: 9, name: "Eve"), berth = Berth(code: "C3", pilot: eve)
            berth.ships = [Ship()]
            berth.mood = BerthMood(rawValue: "wild")
            context.insert(berth)
            context.insert(Buoy(code: "D4"))
            try context.save()

            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: url)
            let model = try Self.model()
            #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName, "the store keeps its version")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Berth")
            request.predicate = NSPredicate(format: "pilot.search == 'eve' AND mood.mood == 'wild'")
            let row = try #require(try Self.objects(url).fetch(request).first)
            #expect(row.value(forKey: "area") as? Double == 1.5 && row.value(forKey: "price") as? NSDecimalNumber == 2.5)
        }
    }

    @Test func `Generated classes read a file in Core Data's layout in place`() throws {
        try MadeStores.withFolder { folder in
            let log = folder.appending(path: "harbour.store"), file = folder.appending(path: "harbour.sqlite")
            try Self.make(log)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model())
            let store = try coordinator.addPersistentStore(type: .recordLog, at: log)
            try coordinator.remove(coordinator.migratePersistentStore(store, to: file, type: .sqlite))
            let container = try ModelContainer(for: Schema(Self.types), configurations: ModelConfiguration(url: file, allowsSave: false))
            try Self.expectBerth(ModelContext(container))
        }
    }

    @Test func `Generated classes make a store of their own`() throws {
        try MadeStores.withFolder { folder in
            let container = try ModelContainer(for: Schema(Self.types), configurations: ModelConfiguration(url: folder.appending(path: "new.store")))
            let context = ModelContext(container)
            let eve = Pilot(badge: 9, name: "Eve"), berth = Berth(code: "C3", pilot: eve)
            (berth.ships, berth.tags, berth.site) = ([Ship()], ["x"], MooringSite(center: MooringSiteCenter(x: 4), street: nil))
            context.insert(berth)
            try context.save()
            let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Berth>()).first)
            #expect(found.pilot.name == "Eve" && found.tags == ["x"] && found.site?.center?.x == 4 && found.price == 2.5 && found.isWatered)
            berth.ships = []
            #expect(throws: (any Error).self, "a berth has one ship at least") { try context.save() }
        }
    }
}
