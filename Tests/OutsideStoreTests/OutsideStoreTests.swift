import Foundation
import Heartwood
import Testing

/// A store whose class is outside of Heartwood's module. All that it has to do with the stack is the seam.
@Suite struct OutsideStoreTests {
    private static let model: NSManagedObjectModel = {
        let tree = NSEntityDescription(), wood = NSEntityDescription(), name = NSAttributeDescription(), age = NSAttributeDescription()
        let title = NSAttributeDescription(), stand = NSRelationshipDescription(), trees = NSRelationshipDescription()
        (name.name, name.attributeType, age.name, age.attributeType) = ("name", .stringAttributeType, "age", .integer64AttributeType)
        (title.name, title.attributeType) = ("title", .stringAttributeType)
        (stand.name, stand.destinationEntity, stand.inverseRelationship, stand.maxCount) = ("wood", wood, trees, 1)
        (trees.name, trees.destinationEntity, trees.inverseRelationship) = ("trees", tree, stand)
        (tree.name, tree.properties, wood.name, wood.properties) = ("Tree", [name, age, stand], "Wood", [title, trees])
        let model = NSManagedObjectModel()
        model.entities = [tree, wood]
        return model
    }()

    private struct Scene {
        let source = ListedStore.Source()
        let store: NSPersistentStore
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)

        init() throws {
            source["Wood"] = [["title": .text("North")], ["title": .text("South")]]
            source["Tree"] = [
                ["name": .text("Oak"), "age": .number(300), "wood": .object("Wood", 1)],
                ["name": .text("Birch"), "age": .number(40), "wood": .object("Wood", 2)], nil,
                ["name": .text("Yew"), "age": .number(900), "wood": .object("Wood", 1)],
            ]
            let url = try #require(URL(string: "lists://\(UUID().uuidString)"))
            ListedStore.put(source, at: url)
            NSPersistentStoreCoordinator.registerStoreClass(ListedStore.self, forStoreType: ListedStore.storeType)
            store = try coordinator.addPersistentStore(ofType: ListedStore.storeType, configurationName: nil, at: url, options: nil)
            context.persistentStoreCoordinator = coordinator
        }

        func names(_ format: String? = nil, in context: NSManagedObjectContext? = nil) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tree")
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            return try (context ?? self.context).fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
        }
    }

    @Test
    func `A store of another module shows its rows, and the stack answers predicates, orders, counts and dictionaries`() throws {
        let scene = try Scene()
        #expect(try scene.names() == ["Birch", "Oak", "Yew"])
        #expect(try scene.names("age > 100 AND wood.title == 'North'") == ["Oak", "Yew"])
        #expect(try scene.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tree")) == 3)
        let request = NSFetchRequest<NSDictionary>(entityName: "Tree")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        request.predicate = NSPredicate(format: "age < 100")
        #expect(try scene.context.fetch(request) == [["name": "Birch"]])
    }

    @Test
    func `Objects that the stack has matched keep their rows when the fetch has ended`() throws {
        let scene = try Scene(), request = NSFetchRequest<NSManagedObject>(entityName: "Tree")
        request.predicate = NSPredicate(format: "wood.title == 'North'")
        for _ in 0..<20 {
            let found = try scene.context.fetch(request)
            // These arrays get the memory that the fetch has freed, and overwrite it.
            let blocks = (0..<64).map { _ in [UInt8](repeating: 0xFF, count: 16_384 - 32) }
            #expect(Set(found.map { $0.value(forKey: "name") as? String }) == ["Oak", "Yew"])
            #expect(blocks.allSatisfy { $0[0] == 0xFF })
            scene.context.reset()
        }
    }

    @Test
    func `Relationships of a store of another module lead both ways, and its objects are found by their URIs`() throws {
        let scene = try Scene()
        let woods = NSFetchRequest<NSManagedObject>(entityName: "Wood")
        woods.predicate = NSPredicate(format: "title == 'North'")
        let north = try #require(try scene.context.fetch(woods).first)
        let trees = try #require(north.value(forKey: "trees") as? Set<NSManagedObject>)
        #expect(Set(trees.compactMap { $0.value(forKey: "name") as? String }) == ["Oak", "Yew"])
        #expect(trees.allSatisfy { $0.value(forKey: "wood") as? NSManagedObject === north })
        let uri = north.objectID.uriRepresentation()
        #expect(uri.lastPathComponent == "p1" && uri.host?.hasPrefix("listed-") == true)
        #expect(scene.coordinator.managedObjectID(forURIRepresentation: uri) == north.objectID)
    }

    @Test
    func `Each fetch shows the present state of a store that tells of no commits`() throws {
        let scene = try Scene()
        #expect(try scene.names("age > 500") == ["Yew"])
        scene.source["Tree"].append(["name": .text("Cedar"), "age": .number(2000)])
        #expect(try scene.names("age > 500") == ["Yew", "Cedar"])
        scene.source["Tree"][3] = nil
        #expect(try scene.names("age > 500") == ["Cedar"])
    }

    @Test
    func `A store that lacks an ability says so, with one error for each`() throws {
        let scene = try Scene(), context = scene.context
        func code(_ body: () throws -> Void) -> Int? {
            do { try body() } catch { return (error as NSError).code }
            return nil
        }
        _ = NSEntityDescription.insertNewObject(forEntityName: "Wood", into: context)
        #expect(code { try context.save() } == CocoaError.Code.fileWriteNoPermission.rawValue)
        context.rollback()
        #expect(code { _ = try context.explain(NSFetchRequest<NSManagedObject>(entityName: "Tree")) } == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(code { _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)) } != nil)
        #expect(code { try scene.store.compactRecordLog() } == NSPersistentStoreOperationError)
        #expect(!scene.coordinator.setURL(URL(fileURLWithPath: "/tmp/elsewhere"), for: scene.store))
        #expect(scene.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        #expect(code { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: ListedStore.storeType, at: scene.coordinator.url(for: scene.store)) }
            == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test
    func `The contents of a store of another module migrate to a record log and to Core Data's layout`() throws {
        let scene = try Scene(), folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (type, name) in [(NSRecordLogStoreType, "Trees.heartwood"), (NSSQLiteStoreType, "Trees.sqlite")] {
            let scene = try Scene()
            let new = try scene.coordinator.migratePersistentStore(scene.store, to: folder.appendingPathComponent(name), withType: type)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = scene.coordinator
            #expect(new.type == type)
            #expect(try scene.names("wood.title == 'North'", in: context) == ["Oak", "Yew"])
            try scene.coordinator.remove(new)
        }
        #expect(try scene.names() == ["Birch", "Oak", "Yew"])
    }

    @Test
    func `A context of two stores reads the one of another module beside a record log`() throws {
        let scene = try Scene(), context = scene.context
        try scene.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let tree = NSEntityDescription.insertNewObject(forEntityName: "Tree", into: context)
        context.assign(tree, to: scene.coordinator.persistentStores[1])
        tree.setValue("Elm", forKey: "name")
        tree.setValue(1000, forKey: "age")
        try context.save()
        context.reset()
        #expect(try scene.names("age > 200") == ["Oak", "Yew", "Elm"])
    }
}
