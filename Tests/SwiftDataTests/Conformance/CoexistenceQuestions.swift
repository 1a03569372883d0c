import Foundation
import Heartwood
import SwiftData
import Testing

/// One store under Core Data's interface and SwiftData's.
@Suite struct CoexistenceQuestions {
    private static let types: [any PersistentModel.Type] = [Freighter.self, Harbour.self, Sailor.self, Voyage.self]
    private let folder: TemporaryFolder
    private var url: URL { folder.url.appending(path: "models.store") }

    init() throws { folder = try TemporaryFolder() }

    private func models() throws -> ModelContext {
        ModelContext(try ModelContainer(for: Schema(Self.types), configurations: [ModelConfiguration(url: url)]))
    }

    private func objects() throws -> NSManagedObjectContext {
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: Self.types))
        let container = NSPersistentContainer(name: "Fleet", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.type = NSRecordLogStoreType
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container.viewContext
    }

    @Test(.coreData("nsmanagedobjectmodel/makemanagedobjectmodel(for:mergedwith:)"))
    func `Classes give a managed object model with their entities`() throws {
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: Self.types))
        let ship = try #require(model.entitiesByName["Freighter"])
        #expect(ship.attributesByName["tonnage"]?.isOptional == false && ship.attributesByName["motto"]?.isOptional == true)
        #expect(ship.relationshipsByName["home"]?.destinationEntity?.name == "Harbour")
        #expect(ship.relationshipsByName["home"]?.inverseRelationship?.name == "ships")
        #expect(ship.relationshipsByName["crew"]?.isToMany == true && ship.relationshipsByName["crew"]?.deleteRule == .cascadeDeleteRule)
        #expect(model.entitiesByName["Harbour"]?.uniquenessConstraints.count == 1)
    }

    @Test(.coreData("nsmanagedobjectmodel/makemanagedobjectmodel(for:mergedwith:)"))
    func `A model is merged with the one that the program has`() throws {
        let own = NSManagedObjectModel(), entity = NSEntityDescription()
        entity.name = "Own"
        own.entities = [entity]
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Parcel.self, Label.self], mergedWith: own))
        #expect(Set(model.entitiesByName.keys) == ["Own", "Parcel", "Label"])
    }

    @Test(.coreData("adopting-swiftdata-for-a-core-data-app"))
    func `Managed objects are read as models`() throws {
        let objects = try objects()
        let harbour = NSEntityDescription.insertNewObject(forEntityName: "Harbour", into: objects)
        harbour.setValue("Bergen", forKey: "name")
        let ship = NSEntityDescription.insertNewObject(forEntityName: "Freighter", into: objects)
        let values: [String: Any] = ["name": "Aurora", "tonnage": 7, "launched": day(1), "code": UUID()]
        for (key, value) in values { ship.setValue(value, forKey: key) }
        ship.setValue(["quay": "north", "number": 4], forKey: "berth")
        ship.setValue(harbour, forKey: "home")
        try objects.save()
        let found = try #require(try models().fetch(FetchDescriptor<Freighter>()).first)
        #expect(found.name == "Aurora" && found.tonnage == 7 && found.launched == day(1))
        #expect(found.berth == Quay(quay: "north", number: 4, note: nil) && found.home?.name == "Bergen")
    }

    @Test(.coreData("adopting-swiftdata-for-a-core-data-app"))
    func `Models are read as managed objects`() throws {
        let context = try models(), ship = Freighter("Aurora", tonnage: 9, launched: day(2))
        ship.flag = .malta
        ship.crew = [Sailor("Ann", age: 30)]
        context.insert(ship)
        try context.save()
        let objects = try objects()
        let row = try #require(try objects.fetch(NSFetchRequest<NSManagedObject>(entityName: "Freighter")).first)
        #expect(row.value(forKey: "name") as? String == "Aurora" && row.value(forKey: "tonnage") as? Int == 9)
        #expect((row.value(forKey: "crew") as? Set<NSManagedObject>)?.first?.value(forKey: "age") as? Int == 30)
    }

    @Test(.wwdc(2023, 10189, "a coexisting store with history tracking"))
    func `A change by Core Data is in SwiftData's history`() throws {
        let context = try models(), ship = Freighter("Aurora", tonnage: 9, launched: day(2))
        context.insert(ship)
        try context.save()
        let token = try #require(context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last).token
        let objects = try objects()
        objects.transactionAuthor = "core data"
        let row = try #require(try objects.fetch(NSFetchRequest<NSManagedObject>(entityName: "Freighter")).first)
        row.setValue(10, forKey: "tonnage")
        try objects.save()
        let found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        #expect(found.map(\.author) == ["core data"])
        #expect(found.first?.changes.map(\.changedPersistentIdentifier) == [ship.persistentModelID])
    }

    @Test(.wwdc(2023, 10189, "entity names are the classes' names"))
    func `An entity is named after its class, without what the class lies in`() {
        #expect(Schema.entityName(for: Freighter.self) == "Freighter")
        #expect(Schema.entityName(for: CrateV1.Crate.self) == "Crate")
    }
}
