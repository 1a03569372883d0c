import CoreData
import Foundation
import Testing

// A view context is the main queue's.
@MainActor @Suite struct StackTests {
    @Test func aDerivedContextsSaveReachesTheMainContext() async throws {
        let stack = TestCoreDataStack()
        let derived = stack.newDerivedContext(), main = stack.mainContext
        func start() {
            derived.perform {
                let chef = Chef(usedContext: derived)
                chef.name = "Ann"
                stack.saveContext(derived)
            }
        }
        nonisolated(unsafe) var saves = 0
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: derived, queue: nil) { _ in saves += 1 }
        defer { NotificationCenter.default.removeObserver(token) }
        start()
        // The save is queued by the first block.
        await derived.perform {}
        await derived.perform { #expect(saves == 1 && !derived.hasChanges) }
        let names = try await main.perform { try main.fetch(NSFetchRequest<Chef>(entityName: "Chef")).map(\.name) }
        #expect(names == ["Ann"])
    }

    @Test func aDatabaseIsLoadedUsedEmptiedAndTornDown() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-database-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = CoreDataDatabase(name: "Bookmarks", containerLocation: folder, model: CoreDataStack.model)
        #expect(!database.isDatabaseFileInitialized && database.model === CoreDataStack.model)
        let name = await withCheckedContinuation { continuation in
            database.loadStore { context, error in
                #expect(error == nil)
                continuation.resume(returning: context?.name)
            }
        }
        #expect(name == "Migration" && database.isDatabaseFileInitialized)
        let context = database.makeContext(concurrencyType: .privateQueueConcurrencyType, name: "Test")
        try context.performAndWait {
            for name in ["a", "b"] { Chef(context: context).name = name }
            _ = Tag(name: "t", context: context)
            try context.save()
            context.deleteAll(matching: Chef.fetchRequest())
            #expect(context.deletedObjects.count == 2)
            context.deleteAll(entityDescriptions: [Tag.entity(in: context)])
            #expect(context.deletedObjects.count == 3)
            try context.save()
        }
        try database.tearDown(deleteStores: true)
        #expect(database.coordinator.persistentStores.isEmpty && !database.isDatabaseFileInitialized)
    }

    @Test func aStackByHandSavesThroughItsWriter() throws {
        let stack = try HandMadeStack()
        let chef = Chef(context: stack.main)
        chef.name = "Ann"
        try stack.save()
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = stack.psc
        let name = try reader.performAndWait { try reader.fetch(NSFetchRequest<Chef>(entityName: "Chef")).first?.name }
        #expect(name == "Ann")
        #expect(!stack.main.hasChanges && !stack.writer.hasChanges && stack.main.parent === stack.writer)
    }

    @Test func aPreviewHasItsItems() throws {
        let context = PreviewController.preview.container.viewContext
        let request = TodoItem.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(keyPath: \TodoItem.dueDate, ascending: false)]
        #expect(try context.fetch(request).map(\.dueDate?.timeIntervalSince1970) == (0..<10).reversed().map { Double($0) })
    }

    @Test func aRepositoryServesAnyClass() throws {
        let context = PersistenceController(inMemory: true).container.viewContext
        let chefs = CoreDataRepository<Chef>(managedObjectContext: context), tags = CoreDataRepository<Tag>(managedObjectContext: context)
        var seen: [Set<Chef>] = []
        let token = chefs.observe { seen.append($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        let ann = try chefs.create().get(), bob = try chefs.create().get(), tag = try tags.create().get()
        ann.name = "Ann"
        bob.name = "Bob"
        tag.name = "hot"
        context.processPendingChanges()
        #expect(seen == [[ann, bob]])
        try context.save()
        #expect(try chefs.get(predicate: nil, sortDescriptors: [NSSortDescriptor(key: "name", ascending: false)]).get() == [bob, ann])
        #expect(try chefs.first("name BEGINSWITH[c] %@ AND name.length == %d", "b", 3) === bob)
        #expect(throws: RepositoryError.self) { try tags.first("%K == %@", "name", "cold") }
        try chefs.update(ann.objectID) { $0.name = "Anna" }
        #expect(throws: RepositoryError.self) { try tags.update(ann.objectID) { _ in } }
        #expect(ann.name == "Anna")
        #expect(try tags.delete(entity: tag).get())
        #expect(try chefs.deleteAll() == 2)
        try context.save()
        #expect(try chefs.get(predicate: nil, sortDescriptors: nil).get().isEmpty)
    }

    @Test func aServersTasksEachHaveAContext() async throws {
        let service = BookmarkService(container: PersistenceController(inMemory: true).container)
        let made = try await withThrowingTaskGroup(of: BookmarkService.Bookmark.self) { group in
            for number in 0..<20 { group.addTask { try await service.create(title: "Bookmark \(number + 10)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(made.map(\.id)).count == 20)
        let first = try #require(made.first { $0.title == "Bookmark 10" })
        #expect(try await service.visit(first.id) == 1)
        #expect(try await service.visit(first.id) == 2)
        await #expect(throws: RepositoryError.self) { try await service.visit(UUID()) }
        #expect(try await service.all().map(\.title) == (10..<30).map { "Bookmark \($0)" })
        #expect(try await service.purge() == 20)
        #expect(try await service.all().isEmpty)
    }

    @Test func aContextOfATestsOwnStandsInForARealOne() throws {
        let context = FailingContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = PersistenceController(inMemory: true).container.persistentStoreCoordinator
        let chef = Chef(context: context), other = NSEntityDescription.insertNewObject(forEntityName: "Chef", into: context)
        #expect(context.calls == ["insert", "insert"])
        context.forget()
        #expect(context.hasChanges)
        #expect(throws: FailingContext.Failure.self) { try context.save() }
        let all: [Chef] = try context.fetch(NSFetchRequest<Chef>(entityName: "Chef"))
        #expect(Set(all) == [chef, other])
        #expect(try context.fetch(Chef.fetchRequest() as NSFetchRequest<NSFetchRequestResult>) is [Chef])
        #expect(try context.count(for: NSFetchRequest<Chef>(entityName: "Chef")) == 2)
        context.stands = 7
        #expect(try context.count(for: NSFetchRequest<Chef>(entityName: "Chef")) == 7)
        #expect(context.calls == ["hasChanges", "save", "fetch Chef", "fetch Chef", "count", "count"])
        context.failsToFetch = true
        #expect(throws: FailingContext.Failure.self) { try context.fetch(NSFetchRequest<Chef>(entityName: "Chef")) }
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Chef")
        dictionaries.resultType = .dictionaryResultType
        context.failsToFetch = false
        #expect(try context.fetch(dictionaries).isEmpty)
        context.forget()
        context.refresh(chef, mergeChanges: true)
        context.delete(chef)
        #expect(context.object(with: other.objectID) === other)
        context.perform { #expect(other.managedObjectContext === context) }
        _ = try context.execute(NSBatchDeleteRequest(fetchRequest: Chef.fetchRequest()))
        context.rollback()
        context.reset()
        #expect(context.calls == ["refresh", "delete", "object", "perform", "execute", "rollback", "reset"])
    }
}

extension NSManagedObject {
    fileprivate static func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        NSEntityDescription.entity(forEntityName: String(describing: self), in: context)!
    }
}
