import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct ConcurrencyQuestions {
    @Test(.header("NSManagedObjectContext", "concurrencyType"))
    func `A context has its type`() {
        #expect(NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType).concurrencyType == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).concurrencyType == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
        #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
    }

    @Test(.reference("nsmanagedobjectcontext/performandwait(_:)-2jqhr"))
    func `performAndWait returns what its block does`() throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(context.performAndWait { 7 } == 7)
    }

    @Test(.reference("nsmanagedobjectcontext/performandwait(_:)-2jqhr"))
    func `performAndWait throws what its block does`() throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let error = failure { try context.performAndWait { throw NSError(domain: "test", code: 5) } }
        #expect(error?.code == 5)
    }

    @Test(.header("NSManagedObjectContext", "performBlockAndWait:"))
    func `performAndWait may be called within itself`() {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(context.performAndWait { context.performAndWait { 3 } } == 3)
    }

    @Test(.wwdc(2021, 10017, "Swift concurrency in Core Data"))
    func `perform returns what its block does, asynchronously`() async throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let sum = await context.perform { 3 + 4 }
        #expect(sum == 7)
    }

    @Test(.wwdc(2021, 10017, "Swift concurrency in Core Data"))
    func `perform throws what its block does`() async throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        await #expect(throws: CocoaError.self) { try await context.perform { throw CocoaError(.featureUnsupported) } }
    }

    @Test(.header("NSManagedObjectContext", "performBlock:"))
    func `Blocks of perform run in the order of the calls`() async throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        func submit(_ number: Int) { context.perform { context.userInfo["list"] = (context.userInfo["list"] as? [Int] ?? []) + [number] } }
        for number in 1...5 { submit(number) }
        let list = await context.perform { context.userInfo["list"] as? [Int] }
        #expect(list == [1, 2, 3, 4, 5])
    }

    @Test(.header("NSManagedObjectContext", "performBlock:"))
    func `perform processes pending changes at its end`() async throws {
        let stack = try Stack(), context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let heard = Heard(.NSManagedObjectContextObjectsDidChange, of: context)
        await withCheckedContinuation { continuation in
            context.perform { _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context) }
            context.perform { continuation.resume() }
        }
        #expect(heard.all.count == 1)
    }

    @Test(.header("NSManagedObjectContext", "name, transactionAuthor, userInfo"))
    func `A context has a name, an author and a dictionary for a program's own values`() {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        #expect(context.name == nil && context.transactionAuthor == nil && context.userInfo.count == 0)
        (context.name, context.transactionAuthor) = ("importer", "app")
        context.userInfo["key"] = "value"
        #expect(context.name == "importer" && context.transactionAuthor == "app" && context.userInfo["key"] as? String == "value")
    }

    @Test(.header("NSManagedObjectContext", "defaults"))
    func `A new context has no changes, merges nothing by itself and retains nothing`() {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        #expect(!context.hasChanges && !context.automaticallyMergesChangesFromParent && !context.retainsRegisteredObjects)
        #expect(context.shouldDeleteInaccessibleFaults && context.stalenessInterval < 0 && context.queryGenerationToken == nil)
        #expect(context.parent == nil && context.persistentStoreCoordinator == nil)
    }

    @Test(.header("NSPersistentStoreCoordinator", "performBlockAndWait:"))
    func `A coordinator performs blocks too`() throws {
        let stack = try Stack()
        #expect(stack.coordinator.performAndWait { stack.coordinator.persistentStores.count } == 1)
    }

    @Test(.reference("nspersistentcontainer"))
    func `A container has a context of the main queue and makes such of private ones`() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Sketch.library())
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType && container.name == "Library")
        let background = container.newBackgroundContext()
        #expect(background.concurrencyType == .privateQueueConcurrencyType)
        #expect(background.persistentStoreCoordinator === container.persistentStoreCoordinator)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    /// A loaded container with a store in memory.
    private func loaded() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Sketch.library())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        return container
    }

    @Test(.reference("nspersistentcontainer/performbackgroundtask(_:)"))
    func `A background task's context is another one of the container`() async throws {
        let container = try loaded()
        let count = try await container.performBackgroundTask { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            try context.save()
            return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == 1)
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 1)
    }

    @Test(.reference("nspersistentcontainer/loadpersistentstores(completionhandler:)"))
    func `Loading calls its block once for each description`() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Sketch.library())
        container.persistentStoreDescriptions = (0..<2).map { _ in
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            return description
        }
        var calls = 0
        container.loadPersistentStores { _, error in if error == nil { calls += 1 } }
        #expect(calls == 2 && container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test(.header("NSManagedObjectContext", "setQueryGenerationFromToken:error:"))
    func `A pinned context does not see later saves until it is moved on`() throws {
        let stack = try Stack(.database)
        try stack.saved("Book")
        let reader = stack.sibling()
        try reader.setQueryGenerationFrom(.current)
        #expect(try stack.count("Book", in: reader) == 1)
        try stack.saved("Book")
        #expect(try stack.count("Book", in: reader) == 1)
        try reader.setQueryGenerationFrom(.current)
        #expect(try stack.count("Book", in: reader) == 2)
        try reader.setQueryGenerationFrom(nil)
        #expect(reader.queryGenerationToken == nil)
    }
}
