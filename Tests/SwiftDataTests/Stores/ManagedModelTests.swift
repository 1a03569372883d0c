import Foundation
import Heartwood
import HeartwoodSwiftData
import Testing

@Suite struct ManagedModelTests {
    private static let types: [any PersistentModel.Type] = [
        ShelfPublisher.self, ShelfBook.self, ShelfReader.self, ShelfItem.self, ShelfLamp.self,
    ]

    private func newURL() -> URL { FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).store") }

    private func container(_ model: NSManagedObjectModel, _ url: URL) throws -> NSPersistentContainer {
        let made = NSPersistentContainer(name: "Shelf", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.type = NSRecordLogStoreType
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        made.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        made.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return made
    }

    @Test
    func `A store of model classes opens with managed objects, and back, in one program`() throws {
        let url = newURL()
        let models = try ModelContainer(for: Schema(Self.types), configurations: [ModelConfiguration(url: url)])
        let context = ModelContext(models)
        let publisher = ShelfPublisher(name: "Virago")
        let book = ShelfBook(title: "One", pages: 3, publisher: publisher)
        (book.kind, book.place, book.tags) = (.essay, ShelfPlace(room: "attic", row: 2, kind: .essay), ["a"])
        context.insert(book)
        context.insert(ShelfLamp(name: "lamp", watts: 40))
        try context.save()

        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: Self.types))
        let objects = try container(model, url)
        let view = objects.viewContext
        let row = try #require(try view.fetch(NSFetchRequest<NSManagedObject>(entityName: "ShelfBook")).first)
        #expect(type(of: row) == NSManagedObject.self)
        #expect(row.value(forKey: "title") as? String == "One")
        #expect((row.value(forKey: "kind") as? [String: Any])?["kind"] as? String == "essay")
        let place = try #require(row.value(forKey: "place") as? [String: Any])
        #expect(place["room"] as? String == "attic")
        #expect((place["row"] as? NSNumber)?.intValue == 2)
        #expect((row.value(forKey: "publisher") as? NSManagedObject)?.value(forKey: "name") as? String == "Virago")
        #expect(row.value(forKey: "mood") == nil && row.value(forKey: "other") == nil)
        let lamps = try view.fetch(NSFetchRequest<NSManagedObject>(entityName: "ShelfItem"))
        #expect(lamps.map { $0.entity.name } == ["ShelfLamp"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "ShelfBook")
        request.predicate = NSPredicate(format: "place.room == %@ AND kind.kind == %@", "attic", "essay")
        #expect(try view.count(for: request) == 1)

        let other = NSEntityDescription.insertNewObject(forEntityName: "ShelfBook", into: view)
        let values: [String: Any] = [
            "title": "Two", "code": UUID(), "place": ["room": "hall", "kind": ["kind": "novel"]], "tags": Data("[\"x\"]".utf8),
        ]
        for (key, value) in values {
            other.setValue(value, forKey: key)
        }
        other.setValue(["mood": "novel"], forKey: "mood")
        other.setValue(row.value(forKey: "publisher"), forKey: "publisher")
        row.setValue(7, forKey: "pages")
        try view.save()

        let again = ModelContext(models)
        let found = try again.fetch(FetchDescriptor<ShelfBook>(sortBy: [SortDescriptor(\.title)]))
        #expect(found.map(\.title) == ["One", "Two"])
        #expect(found[0].pages == 7 && found[0].tags == ["a"])
        #expect(found[1].place == ShelfPlace(room: "hall", row: nil, kind: .novel))
        #expect(found[1].mood == .novel && found[1].tags == ["x"])
        #expect(found[1].publisher?.books.count == 2)
    }

    @Test
    func `A store of managed objects opens with the model's classes`() throws {
        let url = newURL()
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: Self.types))
        let objects = try container(model, url)
        let lamp = NSEntityDescription.insertNewObject(forEntityName: "ShelfLamp", into: objects.viewContext)
        lamp.setValue("lamp", forKey: "name")
        try objects.viewContext.save()
        let models = try ModelContainer(for: Schema(Self.types), configurations: [ModelConfiguration(url: url)])
        let context = ModelContext(models)
        #expect(try context.fetch(FetchDescriptor<ShelfItem>()).map(\.name) == ["lamp"])
        #expect(try context.fetch(FetchDescriptor<ShelfLamp>()).map(\.watts) == [3])
    }

    @Test
    func `A later list of classes opens the store of an earlier one`() throws {
        let url = newURL()
        do {
            let models = try ModelContainer(for: ShelfReader.self, configurations: ModelConfiguration(url: url))
            let context = ModelContext(models)
            context.insert(ShelfReader(name: "Ann"))
            try context.save()
        }
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: Self.types))
        let objects = try container(model, url)
        #expect(try objects.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "ShelfReader")) == 1)
        #expect(try objects.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "ShelfLamp")) == 0)
    }

    @Test
    func `A model is merged with another, and with none that has an entity of the same name`() throws {
        let extra = NSEntityDescription()
        extra.name = "Extra"
        let model = NSManagedObjectModel()
        model.entities = [extra]
        let merged = try #require(NSManagedObjectModel.makeManagedObjectModel(for: ShelfItem.self, ShelfLamp.self, mergedWith: model))
        #expect(Set(merged.entities.compactMap(\.name)) == ["Extra", "ShelfItem", "ShelfLamp"])
        #expect(merged.entitiesByName["ShelfLamp"]?.superentity?.name == "ShelfItem")
        #expect(try container(merged, newURL()).viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Extra")) == 0)
        let rival = NSEntityDescription()
        rival.name = "ShelfItem"
        let second = NSManagedObjectModel()
        second.entities = [rival]
        #expect(NSManagedObjectModel.makeManagedObjectModel(for: ShelfItem.self, mergedWith: second) == nil)
    }
}
