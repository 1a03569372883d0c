import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Has the name of an entity of a SwiftData store. The store's own model does not find it.
final class CartModel: NSManagedObject {
    var identity: String? { value(forKey: "id") as? String }
}

/// The ordinary stack over an SQLite store, as a ported app uses it.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteStackTests {
    private static func container(_ zoo: Zoo, options: [String: NSObject] = [:]) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Zoo", managedObjectModel: zoo.model)
        let description = NSPersistentStoreDescription(url: zoo.file)
        description.type = NSSQLiteStoreType
        for (key, value) in options { description.setOption(value, forKey: key) }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    private static func request(_ entity: String, _ format: String? = nil, sort: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    private static func rows(_ objects: [NSManagedObject]) -> [UInt64] { objects.map { UInt64($0.objectID.key.row) } }

    @Test
    func `A container's description may ask for history, remote changes, migration and protection, and nothing lies beside the store`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), before = try Data(contentsOf: zoo.file)
            let container = try Self.container(zoo, options: [
                NSPersistentHistoryTrackingKey: true as NSNumber, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber,
                NSReadOnlyPersistentStoreOption: true as NSNumber, NSMigratePersistentStoresAutomaticallyOption: true as NSNumber,
                NSInferMappingModelAutomaticallyOption: true as NSNumber,
            ])
            let context = container.viewContext
            context.automaticallyMergesChangesFromParent = true
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            context.transactionAuthor = "app"
            let count = try context.performAndWait { try context.count(for: Self.request("Keeper")) }
            #expect(count == 4)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Zoo.sqlite"] && Data(contentsOf: zoo.file) == before)
        }
    }

    @Test
    func `A results controller has sections`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context(), request = Self.request("Animal", sort: "name")
            request.sortDescriptors?.insert(NSSortDescriptor(key: "keeper.name", ascending: true), at: 0)
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "keeper.name", cacheName: nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 5)
            #expect(controller.sections?.map(\.name) == ["", "Ann"] && controller.sections?.map(\.numberOfObjects) == [2, 3])
            let first = controller.object(at: IndexPath(item: 0, section: 1))
            #expect(first.value(forKey: "name") as? String == "Ant" && controller.indexPath(forObject: first) == IndexPath(item: 0, section: 1))
        }
    }

    @Test
    func `Unsaved changes are among the results of fetches, in a context and in its child`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), parent = try Self.container(zoo).newBackgroundContext()
            try parent.performAndWait {
                let ann = try #require(try parent.fetch(Self.request("Keeper", "name == 'Ann'")).first)
                ann.setValue(77, forKey: "age")
                let new = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: parent)
                new.setValue("Rex 2", forKey: "name")
                new.setValue(ann, forKey: "keeper")
                #expect(try parent.fetch(Self.request("Keeper", "age == 77")) == [ann])
                #expect(try parent.fetch(Self.request("Dog", "name BEGINSWITH 'Rex'", sort: "name")).count == 2)
                #expect(try parent.count(for: Self.request("Animal", "keeper.age == 77")) == 4)
                let pending = Self.request("Keeper", "age == 77")
                pending.includesPendingChanges = false
                #expect(try parent.fetch(pending).isEmpty)

                let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                child.parent = parent
                try child.performAndWait {
                    let same = try #require(try child.existingObject(with: ann.objectID) as NSManagedObject?)
                    #expect(same.value(forKey: "age") as? Int == 77 && (same.value(forKey: "animals") as? NSOrderedSet)?.count == 4)
                    same.setValue(78, forKey: "age")
                    try child.save()
                }
                #expect(ann.value(forKey: "age") as? Int == 78)
                let error = #expect(throws: (any Error).self) { try parent.save() } as NSError?
                #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
                #expect(parent.hasChanges && ann.value(forKey: "age") as? Int == 78, "the changes stay")
                let permanent = #expect(throws: (any Error).self) { try parent.obtainPermanentIDs(for: [new]) } as NSError?
                #expect(permanent?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
                parent.rollback()
                #expect(ann.value(forKey: "age") as? Int == 30 && !parent.hasChanges)
                #expect(try parent.count(for: Self.request("Dog")) == 2)
            }
        }
    }

    @Test
    func `A saved URI leads to its object in another stack, and a wrong one to none`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder)
            let first = try zoo.context(), uris = try first.fetch(Self.request("Animal")).map { $0.objectID.uriRepresentation() }
            #expect(Set(uris.map(\.absoluteString)) == Set(
                ["Animal/p1", "Cat/p2", "Dog/p3", "Dog/p4", "Cat/p5"].map { "x-coredata://\(Zoo.identifier)/\($0)" }))
            let context = try zoo.context(), coordinator = try #require(context.persistentStoreCoordinator)
            for uri in uris {
                let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
                #expect(try context.existingObject(with: id).objectID.uriRepresentation() == uri)
                #expect(id.persistentStore === coordinator.persistentStores[0] && !id.isTemporaryID)
            }
            for text in ["Keeper/p99", "Cat/p3", "Cat/p1"] {
                let id = coordinator.managedObjectID(forURIRepresentation: try #require(URL(string: "x-coredata://\(Zoo.identifier)/\(text)")))
                if let id { #expect(throws: (any Error).self, "\(text)") { try context.existingObject(with: id) } }
            }
            let own = Zoo.identifier
            for text in ["\(own)/Keeper/p0", "\(own)/Bird/p1", "OTHER/Keeper/p1", "\(own)/Keeper/p999999999999999999"] {
                #expect(coordinator.managedObjectID(forURIRepresentation: try #require(URL(string: "x-coredata://\(text)"))) == nil, "\(text)")
            }
        }
    }

    @Test
    func `All objects refresh to the owner's newest values`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), context = try zoo.context()
            let keepers = try context.fetch(Self.request("Keeper"))
            #expect(keepers.map { $0.value(forKey: "age") as? Int } == [30, nil, 0, -1])
            try CoreDataStoreFiles.execute(
                "UPDATE ZKEEPER SET ZAGE = 1, Z_OPT = Z_OPT + 1; DELETE FROM ZKEEPER WHERE Z_PK = 7; UPDATE ZANIMAL SET ZKEEPER = 2, Z_OPT = 9;",
                at: zoo.file)
            context.refreshAllObjects()
            #expect(keepers.prefix(3).map { $0.value(forKey: "age") as? Int } == [1, 1, 1])
            #expect(keepers.prefix(3).map { ($0.value(forKey: "animals") as? NSOrderedSet)?.count } == [0, 5, 0])
            #expect(keepers[3].value(forKey: "age") == nil, "the owner has deleted it")
            #expect(throws: (any Error).self) { try context.existingObject(with: keepers[3].objectID) }
        }
    }

    @Test
    func `A context with a query generation reads an SQLite store in its current state`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), context = try zoo.context()
            try context.setQueryGenerationFrom(.current)
            #expect(context.queryGenerationToken != nil)
            #expect(try context.count(for: Self.request("Note")) == 4)
            try CoreDataStoreFiles.execute("DELETE FROM ZNOTE WHERE Z_PK = 4", at: zoo.file)
            #expect(try context.count(for: Self.request("Note")) == 3)
            try context.setQueryGenerationFrom(nil)
            #expect(try context.count(for: Self.request("Note")) == 3)
        }
    }

    @Test
    func `An asynchronous fetch and a fetch of a template give the objects`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try Self.container(try Zoo(in: folder))
        let names = try await container.performBackgroundTask { context in
            try context.fetch(Self.request("Animal", sort: "name")).map { $0.value(forKey: "name") as? String }
        }
        #expect(names == [nil, "Ant", "Ida", "Rex", "Tom"])
        let context = container.newBackgroundContext()
        let rows = await withCheckedContinuation { continuation in
            context.perform {
                let request = NSAsynchronousFetchRequest(fetchRequest: Self.request("Keeper", "age >= 0", sort: "age")) { result in
                    continuation.resume(returning: (result.finalResult ?? []).map { UInt64($0.objectID.key.row) })
                }
                do { _ = try context.execute(request) } catch {
                    Issue.record(error)
                    continuation.resume(returning: [])
                }
            }
        }
        #expect(rows == [3, 1])
    }

    @Test
    func `An SQLite store and a record log are two stores of one coordinator`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let extra = NSEntityDescription()
            extra.name = "Extra"
            extra.properties = [TestStack.attribute("uri", .stringAttributeType), TestStack.attribute("number", .integer32AttributeType)]
            let model = Zoo.model()
            let old = model.entities
            model.entities += [extra]
            model.setEntities(old, forConfigurationName: "Old")
            model.setEntities([extra], forConfigurationName: "New")
            let zoo = try Zoo(in: folder), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let file = try coordinator.addPersistentStore(type: .sqlite, configuration: "Old", at: zoo.file)
            let log = try coordinator.addPersistentStore(
                type: .recordLog, configuration: "New", at: folder.appendingPathComponent("new.heartwood"))
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            for keeper in try context.fetch(Self.request("Keeper")) {
                let new = NSEntityDescription.insertNewObject(forEntityName: "Extra", into: context)
                new.setValue(keeper.objectID.uriRepresentation().absoluteString, forKey: "uri")
                new.setValue(Int(keeper.objectID.key.row), forKey: "number")
                #expect(keeper.objectID.persistentStore === file)
            }
            try context.save()
            #expect(try context.count(for: Self.request("Extra", "number > 2")) == 2)
            context.reset()
            for new in try context.fetch(Self.request("Extra")) {
                let text = try #require(new.value(forKey: "uri") as? String), uri = try #require(URL(string: text))
                let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
                #expect(Int(try context.existingObject(with: id).objectID.key.row) == new.value(forKey: "number") as? Int)
                #expect(new.objectID.persistentStore === log)
            }
            let affected = Self.request("Keeper")
            affected.affectedStores = [log]
            #expect(try context.fetch(affected).isEmpty)
            // A change in the record log is saved, and one in the SQLite store keeps the save from writing either.
            let new = try #require(try context.fetch(Self.request("Extra")).first)
            let keeper = try #require(try context.fetch(Self.request("Keeper")).first)
            new.setValue(500, forKey: "number")
            keeper.setValue(500, forKey: "age")
            #expect((#expect(throws: (any Error).self) { try context.save() } as NSError?)?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
            context.refresh(keeper, mergeChanges: false)
            try context.save()
            #expect(try context.count(for: Self.request("Extra", "number == 500")) == 1)
        }
    }

    @Test
    func `Metadata are read by type, of the store and of the coordinator`() throws {
        try CoreDataStoreFiles.withMadeStore("metadata") { made in
            let (context, store) = try ExpectedObjects(made).open()
            let coordinator = try #require(context.persistentStoreCoordinator), uuid = try #require(try made.summary()["uuid"] as? String)
            let ways: [[String: Any]] = [
                try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: made.store, options: nil),
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: made.store),
                coordinator.metadata(for: store), store.metadata,
            ]
            for metadata in ways {
                #expect(metadata[NSStoreUUIDKey] as? String == uuid && metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
                #expect(NSDictionary(dictionary: metadata).isEqual(NSDictionary(dictionary: ways[0])))
            }
            #expect(store.identifier == uuid)
            for type in [NSPersistentStore.StoreType.recordLog, .binary] {
                #expect(throws: (any Error).self) { try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: made.store) }
            }
        }
    }

    @Test
    func `A store that names no classes, as SwiftData's do, has objects of NSManagedObject; the program's model names its classes`() throws {
        try CoreDataStoreFiles.withMadeStore("swiftdata") { made in
            let (context, _) = try ExpectedObjects(made).open()
            try context.performAndWait {
                for (entity, count) in [("CartModel", 2), ("ItemModel", 3)] {
                    let objects = try context.fetch(Self.request(entity))
                    #expect(objects.count == count && objects.allSatisfy { type(of: $0) == NSManagedObject.self }, "\(entity)")
                }
            }
            let found = try CoreDataStoreModel.find(storeAt: made.store.path).model
            let own = try #require(found.copy() as? NSManagedObjectModel)
            own.entitiesByName["CartModel"]?.managedObjectClassName = NSStringFromClass(CartModel.self)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: own)
            try coordinator.addPersistentStore(type: .sqlite, at: made.store)
            let typed = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            typed.persistentStoreCoordinator = coordinator
            try typed.performAndWait {
                let request = NSFetchRequest<CartModel>(entityName: "CartModel")
                request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
                #expect(try typed.fetch(request).map(\.identity) == ["c1", "c2"])
                let items = try typed.fetch(Self.request("ItemModel"))
                #expect(items.count == 3 && items.allSatisfy { type(of: $0) == NSManagedObject.self })
            }
        }
    }

    @Test
    func `Another version of the model is refused with the hashes' difference, and the option to ignore it asks the tables`() throws {
        try CoreDataStoreFiles.withMadeStore("to-one") { made in
            let right = try CoreDataStoreModel.find(storeAt: made.store.path).model
            let other = try #require(right.copy() as? NSManagedObjectModel)
            let entity = try #require(other.entities.first)
            entity.properties += [TestStack.attribute("more", .stringAttributeType)]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
            let error = #expect(throws: (any Error).self) {
                try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: made.store)
            } as NSError?
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
            #expect(error?.localizedDescription.contains(entity.name ?? "?") == true, "\(String(describing: error))")
            let ignoring = #expect(throws: (any Error).self) {
                try coordinator.addPersistentStore(
                    type: .sqlite, configuration: nil, at: made.store, options: [NSIgnorePersistentStoreVersioningOption: true])
            } as NSError?
            #expect(ignoring?.code == NSPersistentStoreIncompatibleSchemaError && ignoring?.userInfo["property"] as? String == "more")
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: made.store)
            #expect(right.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            #expect(NSManagedObjectModel(byMerging: [right, Zoo.model()], forStoreMetadata: metadata)?.entities.count == right.entities.count)
            #expect(NSManagedObjectModel(byMerging: [other], forStoreMetadata: metadata) == nil)
        }
    }

    @Test(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)"))
    func `Each model of a real store makes a store of another type`() throws {
        var partial = 0, computed = 0, models = 0
        for folder in try FileManager.default.contentsOfDirectory(atPath: SharedStores.folder.path).sorted() {
            let place = SharedStores.folder.appendingPathComponent(folder)
            guard let lines = try? SharedStores.expected(folder), let name = lines.first?["store"] as? String,
                let model = try NSPersistentStore.sqliteModel(at: place.appendingPathComponent(name))
            else { continue }
            models += 1
            for index in model.entities.flatMap(\.indexes) {
                if index.partialIndexPredicate != nil { partial += 1 }
                if index.elements.contains(where: { $0.property is NSExpressionDescription }) { computed += 1 }
            }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            do {
                try coordinator.addPersistentStore(type: .inMemory, configuration: nil, at: URL(fileURLWithPath: "/dev/null"))
            } catch let error as NSError where error.localizedDescription.contains("is derived from") {
                // A derivation that a record log cannot compute is refused with its name.
                continue
            }
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            for entity in model.entities {
                let request = Self.request(entity.name ?? "")
                for index in entity.indexes where index.partialIndexPredicate != nil {
                    request.predicate = index.partialIndexPredicate
                    #expect(try context.fetch(request).isEmpty, "\(folder) \(index.name)")
                }
            }
        }
        #expect(models >= 15 && partial >= 20 && computed >= 5, "\(models) models, \(partial) partial indexes, \(computed) with expressions")
    }
}

extension NSPersistentStore {
    fileprivate static func sqliteModel(at url: URL) throws -> NSManagedObjectModel? { try SQLiteStore.storedModel(at: url, options: nil) }
}
