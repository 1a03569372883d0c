import Foundation
import Heartwood
import SwiftData
import Testing

/// One store that managed objects and models read and write: the classes take the forms that the store has.
@Suite struct StoredFormTests {
    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let date = Date(timeIntervalSinceReferenceDate: 86_400.5)

    private static func open(_ url: URL) throws -> ModelContainer {
        try ModelContainer(for: Schema(Forms.types), configurations: ModelConfiguration(url: url))
    }

    /// Calls `body` with a store that has one creature, made by managed objects.
    private static func withStore(_ values: [String: Any], _ body: (URL) throws -> Void) throws {
        try MadeStores.withFolder { folder in
            let url = folder.appending(path: "forms.store")
            let context = try FormStore.context(at: url)
            let creature = NSEntityDescription.insertNewObject(forEntityName: "Creature", into: context)
            let standing: [String: Any] = ["name": "Ünit", "texts": NSArray(), "mood": "calm"]
            for (key, value) in standing.merging(values, uniquingKeysWith: { $1 }) { creature.setValue(value, forKey: key) }
            try context.save()
            try body(url)
        }
    }

    private static func creature(_ url: URL) throws -> (Forms.Creature, ModelContext) {
        let context = ModelContext(try open(url))
        return (try #require(try context.fetch(FetchDescriptor<Forms.Creature>()).first), context)
    }

    private static func expect(_ reason: Forms.Reason?, at url: URL) throws {
        let found = try creature(url).0.reason
        #expect(found == reason)
    }

    /// The value that a managed object has of a property that `change` sets by the class.
    private static func written(_ key: String, _ change: (Forms.Creature) -> Void) throws -> Any? {
        var found: Any?
        try withStore([:]) { url in
            let (creature, context) = try creature(url)
            change(creature)
            try context.save()
            let row = try #require(try FormStore.context(at: url).fetch(NSFetchRequest<NSManagedObject>(entityName: "Creature")).first)
            found = row.value(forKey: key)
        }
        return found
    }

    // MARK: The version

    @Test func `A store that a class cannot describe keeps its version and is not migrated`() throws {
        try Self.withStore([:]) { url in
            func hashes() throws -> [String: Data]? {
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: url)
                return metadata[NSStoreModelVersionHashesKey] as? [String: Data]
            }
            let before = try #require(try hashes())
            let (creature, context) = try Self.creature(url)
            creature.name = "Zoë"
            try context.save()
            #expect(try hashes() == before && before == FormStore.model().entityVersionHashesByName)
            let row = try #require(try FormStore.context(at: url).fetch(NSFetchRequest<NSManagedObject>(entityName: "Creature")).first)
            #expect(row.value(forKey: "search") as? String == "zoe", "the store goes on to derive it")
        }
    }

    @Test func `A property that a class adds is migrated to, and the forms of the others stay`() throws {
        try MadeStores.withFolder { folder in
            let url = folder.appending(path: "added.store")
            let entity = NSEntityDescription(), model = NSManagedObjectModel()
            entity.name = "Note"
            entity.properties = [FormStore.attribute("tags", .transformableAttributeType), FormStore.attribute("mood", .stringAttributeType)]
            model.entities = [entity]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(type: .recordLog, at: url)
            let objects = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            objects.persistentStoreCoordinator = coordinator
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: objects)
            note.setValue(["a"] as NSArray, forKey: "tags")
            note.setValue("wild", forKey: "mood")
            try objects.save()
            try coordinator.remove(store)

            let container = try ModelContainer(for: AddedForm.Note.self, configurations: ModelConfiguration(url: url))
            let found = try ModelContext(container).fetch(FetchDescriptor<AddedForm.Note>())
            #expect(found.map(\.tags) == [["a"]] && found.map(\.mood) == [.wild] && found.map(\.isRead) == [false])
            let stored = try MadeStores.model(of: url)?.entitiesByName["Note"]?.attributesByName
            #expect(stored?["tags"]?.attributeType == .transformableAttributeType && stored?["mood"]?.attributeType == .stringAttributeType)
            #expect(stored?["isRead"]?.attributeType == .booleanAttributeType)
        }
    }

    // MARK: Lists

    @Test func `Lists are read from Foundation's collections, property lists and JSON`() throws {
        let place: [String: Any] = ["city": "Oslo", "mood": "wild", "point": ["x": 1.5, "y": 2.0], "notes": ["n"]]
        let values: [String: Any] = [
            "texts": ["a", "b"] as NSArray, "dates": [Self.date] as NSArray, "keys": NSSet(array: [Self.uuid]),
            "counts": ["one": 1] as NSDictionary, "places": [place] as NSArray,
            "plist": try PropertyListSerialization.data(fromPropertyList: ["p", "q"], format: .binary, options: 0),
        ]
        try Self.withStore(values) { url in
            let (creature, context) = try Self.creature(url)
            #expect(creature.texts == ["a", "b"] && creature.dates == [Self.date] && creature.keys == [Self.uuid])
            #expect(creature.counts == ["one": 1] && creature.plist == ["p", "q"])
            #expect(creature.places == [Forms.Place(city: "Oslo", mood: .wild, point: .init(x: 1.5, y: 2), notes: ["n"])])
            let found = try context.fetch(FetchDescriptor<Forms.Creature>(predicate: #Predicate { $0.texts.contains("b") }))
            #expect(found.count == 1)
        }
    }

    @Test func `A list with a member of another type reads as the property's default`() throws {
        try Self.withStore(["texts": ["a", 1] as NSArray, "dates": ["no date"] as NSArray, "plist": Data([1, 2, 3])]) { url in
            let (creature, _) = try Self.creature(url)
            #expect(creature.texts == [] && creature.dates == nil && creature.plist == nil)
        }
    }

    @Test func `Lists are written as the store keeps them`() throws {
        #expect(try Self.written("texts") { $0.texts = ["x"] } as? NSArray == ["x"])
        #expect(try Self.written("dates") { $0.dates = [Self.date] } as? NSArray == [Self.date])
        #expect(try (Self.written("keys") { $0.keys = [Self.uuid] } as? NSSet)?.anyObject() as? UUID == Self.uuid)
        #expect(try (Self.written("counts") { $0.counts = ["k": 3] } as? NSDictionary)?["k"] as? Int == 3)
        let places = try Self.written("places") { $0.places = [Forms.Place(city: "A", mood: .calm, point: .init(x: 1, y: 2), notes: [])] }
        #expect(((places as? NSArray)?.firstObject as? NSDictionary)?["city"] as? String == "A")
        #expect(try Self.written("plist") { $0.plist = ["x"] } as? Data == Data(#"["x"]"#.utf8))
    }

    // MARK: Enumerations

    @Test func `Enumerations are raw values, in a composite or not`() throws {
        try Self.withStore(["mood": "wild", "level": ["level": 9]]) { url in
            let (creature, context) = try Self.creature(url)
            #expect(creature.mood == .wild && creature.level == .high)
            let mood = Forms.Mood.wild, level = Forms.Level.high
            let predicate = #Predicate<Forms.Creature> { $0.mood == mood && $0.level == level }
            #expect(try context.fetchCount(FetchDescriptor<Forms.Creature>(predicate: predicate)) == 1)
            #expect(try context.fetch(FetchDescriptor<Forms.Creature>(sortBy: [SortDescriptor(\.name)])).count == 1)
        }
        #expect(try Self.written("mood") { $0.mood = .wild } as? String == "wild")
        #expect(try (Self.written("level") { $0.level = .low } as? [String: Any])?["level"] as? Int == 1)
    }

    @Test(arguments: [
        (["none": "none"], Forms.Reason.none), (["text": "why"], .text("why")), (["text": "text"], .text("text")),
        (["when": date], .when(date)), (["sized": ["width": 2.5, "mark": uuid] as [String: any Sendable]], .sized(width: 2.5, mark: uuid)),
        (["coded": Data(#"{"_0":[1,2]}"#.utf8)], .coded([1, 2])), (["coded": Data("[3]".utf8)], .coded([3])),
    ] as [([String: any Sendable], Forms.Reason)])
    func `A case is the element with a value`(stored: [String: any Sendable], reason: Forms.Reason) throws {
        try Self.withStore(["reason": stored]) { url in try Self.expect(reason, at: url) }
    }

    @Test(arguments: [Forms.Reason.none, .text("why"), .when(date), .sized(width: 2.5, mark: uuid), .coded([1, 2])])
    func `A case that is written is read by managed objects and by models`(reason: Forms.Reason) throws {
        let value = try Self.written("reason") { $0.reason = reason }
        let stored = try #require(value as? [String: Any])
        #expect(stored.count == 1)
        try Self.withStore(["reason": stored]) { url in try Self.expect(reason, at: url) }
    }

    @Test func `A case that the store has no element for is refused by the save`() throws {
        try Self.withStore(["reason": ["text": "before"]]) { url in
            let (creature, context) = try Self.creature(url)
            creature.reason = .unknownToTheStore
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            #expect(creature.reason == .text("before"))
        }
    }

    @Test func `No case or two read as nil`() throws {
        try Self.withStore(["reason": ["text": "a", "none": "none"]]) { url in try Self.expect(nil, at: url) }
        try Self.withStore([:]) { url in try Self.expect(nil, at: url) }
    }

    // MARK: Structures

    @Test func `Parts of a structure have the forms of the store`() throws {
        let place: [String: Any] = ["city": "Oslo", "mood": "wild", "point": Data(#"{"x":1,"y":2}"#.utf8), "notes": ["n"] as NSArray]
        try Self.withStore(["place": place, "marks": ["flavors": Data("[\"f\"]".utf8), "level": ["level": 9]]]) { url in
            let (creature, context) = try Self.creature(url)
            let whole = Forms.Place(city: "Oslo", mood: .wild, point: .init(x: 1, y: 2), notes: ["n"])
            #expect(creature.place == whole && creature.marks == Forms.Marks(flavors: ["f"], level: .high))
            let city = "Oslo", x = 1.0, mood = Forms.Mood.wild
            let byCity = #Predicate<Forms.Creature> { $0.place?.city == city }
            let byRest = #Predicate<Forms.Creature> { $0.place?.point.x == x && $0.place?.mood == mood }
            #expect(try context.fetchCount(FetchDescriptor<Forms.Creature>(predicate: byCity)) == 1)
            #expect(try context.fetch(FetchDescriptor<Forms.Creature>(predicate: byRest)).count == 1)
            creature.place?.point.x = 7
            creature.marks.level = nil
            try context.save()
            let again = try Self.creature(url).0
            #expect(again.place?.point == .init(x: 7, y: 2) && again.marks == Forms.Marks(flavors: ["f"], level: nil))
        }
        try Self.withStore([:]) { url in
            let creature = try Self.creature(url).0
            #expect(creature.place == nil && creature.marks == Forms.Marks(flavors: nil, level: nil))
        }
    }

    // MARK: Relationships

    @Test func `Relationships keep the order, the inverses and the lack of them that the store has`() throws {
        try Self.withStore([:]) { url in
            let (creature, context) = try Self.creature(url)
            let other = Forms.Creature(name: "other")
            context.insert(other)
            creature.limbs = ["c", "a", "b"].map(Forms.Limb.init)
            creature.friends = [other]
            creature.favourite = creature.limbs[1]
            try context.save()
            #expect(other.friends == [creature] && creature.limbs.allSatisfy { $0.creature === creature && $0.fan == nil })
            let again = ModelContext(context.container)
            let unit = try #require(try again.fetch(FetchDescriptor<Forms.Creature>(predicate: #Predicate { $0.name == "Ünit" })).first)
            #expect(unit.limbs.map(\.label) == ["c", "a", "b"] && unit.favourite?.label == "a")
        }
    }

    @Test func `A model of an abstract entity is refused by the save`() throws {
        try Self.withStore([:]) { url in
            let context = ModelContext(try Self.open(url))
            context.insert(Forms.Being(name: "none"))
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            context.insert(Forms.Creature(name: "one"))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<Forms.Being>()) == 2)
        }
    }
}

enum AddedForm {
    @Model
    final class Note {
        var tags: [String]?
        var mood: Forms.Mood?
        var isRead: Bool = false

        init() {}
    }
}
