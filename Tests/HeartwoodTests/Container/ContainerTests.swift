import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

@Suite struct ContainerTests {
    private func container(_ descriptions: [NSPersistentStoreDescription]) -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Test", managedObjectModel: TestStack.model())
        container.persistentStoreDescriptions = descriptions
        return container
    }

    /// The results of loading: the description and the error's code.
    private final class Told: Sendable {
        private struct State: @unchecked Sendable {
            // Unchecked: the tests only read the descriptions and errors.
            var list: [(NSPersistentStoreDescription, (any Error)?)] = []
        }

        private let state = Watched(State())
        var list: [(NSPersistentStoreDescription, (any Error)?)] { state.withLock { $0 }.list }
        var errors: [(any Error)?] { list.map(\.1) }
        var codes: [Int?] { errors.map { code($0) } }

        func note(_ description: NSPersistentStoreDescription, _ error: (any Error)?) {
            nonisolated(unsafe) let entry = (description, error)
            state.withLock { $0.list.append(entry) }
        }

        func wait(for count: Int) async -> Bool { await state.wait { $0.list.count >= count } }
    }

    @Test
    func `Loading reports each store once`() throws {
        let scratch = try ScratchDirectory(), told = Told()
        let memory = NSPersistentStoreDescription()
        memory.type = NSInMemoryStoreType
        let container = container([NSPersistentStoreDescription(url: scratch["a"]), memory])
        container.loadPersistentStores { told.note($0, $1) }
        #expect(told.codes == [nil, nil] && told.list.map(\.0) == container.persistentStoreDescriptions)
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSRecordLogStoreType, NSInMemoryStoreType])
        let first = NSPersistentContainer(name: "Named", managedObjectModel: TestStack.model()).persistentStoreDescriptions
        #expect(first.map(\.url) == [NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Named.heartwood")])
    }

    /// The file's lock is held, so that no opening can end before its release.
    @Test
    func `Asynchronous loading returns before the store is open`() async throws {
        let scratch = try ScratchDirectory(), told = Told()
        let descriptions = ["a", "b"].map { NSPersistentStoreDescription(url: scratch[$0]) }
        for description in descriptions {
            description.shouldAddStoreAsynchronously = true
            description.timeout = 60
        }
        let container = container(descriptions)
        let locks = try descriptions.map { description in
            let file = try POSIXFileSystem().open(try #require(description.url).path, .create)
            try file.lock(timeout: .zero)
            return file
        }
        container.loadPersistentStores { told.note($0, $1) }
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty && told.list.isEmpty)
        locks.forEach { $0.unlock() }
        #expect(await told.wait(for: 2))
        #expect(told.codes == [nil, nil] && Set(told.list.map(\.0)) == Set(descriptions))
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
        // Long enough for another call to come.
        try await Task.sleep(for: .milliseconds(20))
        #expect(told.list.count == 2, "once for each")
        // Two stores that were added at once have separate content.
        let stores = container.persistentStoreCoordinator.persistentStores
        #expect(Set(stores.map(\.slotBase)).count == 2)
    }

    @Test
    func `Synchronous loading waits for the stores`() async throws {
        let scratch = try ScratchDirectory()
        let container = container([NSPersistentStoreDescription(url: scratch["none/a"]), NSPersistentStoreDescription(url: scratch["b"])])
        let error = await #expect(throws: (any Error).self) { try await container.loadPersistentStores() }
        #expect(code(error) == NSPersistentStoreOpenError)
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [scratch["b"]])
        let count = try await container.performBackgroundTask { context in
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue("a", forKey: "name")
            try context.save()
            return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        }
        #expect(count == 1)
    }

    @Test
    func `Descriptions are equal when their settings are`() throws {
        let scratch = try ScratchDirectory()
        let one = NSPersistentStoreDescription(url: scratch["a"])
        one.configuration = "C"
        one.timeout = 7
        one.setOption("relaxed" as NSString, forKey: NSRecordLogDurabilityOption)
        let copy = try #require(one.copy() as? NSPersistentStoreDescription)
        #expect(copy == one && copy.hash == one.hash && copy !== one && copy.timeout == 7 && copy.configuration == "C")
        #expect(Set([one, copy]).count == 1)
        let changes: [(NSPersistentStoreDescription) -> Void] = [
            { $0.url = scratch["b"] }, { $0.type = NSInMemoryStoreType }, { $0.configuration = nil }, { $0.isReadOnly = true }, { $0.timeout = 8 },
            { $0.shouldAddStoreAsynchronously = true }, { $0.setOption(nil, forKey: NSRecordLogDurabilityOption) },
        ]
        for change in changes {
            let other = try #require(one.copy() as? NSPersistentStoreDescription)
            change(other)
            #expect(other != one)
        }
        #expect(one.options[NSRecordLogDurabilityOption] as? NSString == "relaxed" && !one.isReadOnly)
    }

    // MARK: Read-only stores

    @Test
    func `A read-only store is not written`() throws {
        let scratch = try ScratchDirectory()
        let maker = container([NSPersistentStoreDescription(url: scratch["a"])])
        maker.loadPersistentStores { _, _ in }
        let writer = maker.persistentStoreCoordinator.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: writer).setValue("a", forKey: "name")
        try writer.save()
        for store in maker.persistentStoreCoordinator.persistentStores { try maker.persistentStoreCoordinator.remove(store) }
        let before = scratch.contents, told = Told()
        let description = NSPersistentStoreDescription(url: scratch["a"])
        description.isReadOnly = true
        let container = container([description])
        container.loadPersistentStores { told.note($0, $1) }
        #expect(told.codes == [nil])
        let coordinator = container.persistentStoreCoordinator, context = coordinator.newContext()
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.isReadOnly)
        let person = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        person.setValue("b", forKey: "name")
        let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
        #expect(
            code(error) == CocoaError.Code.fileWriteNoPermission.rawValue
                && error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [store])
        #expect(context.hasChanges)
        coordinator.setMetadata(["a": 1], for: store)
        let batch = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person"))
        #expect(code(#expect(throws: (any Error).self) { try context.execute(batch) }) == CocoaError.Code.fileWriteNoPermission.rawValue)
        context.rollback()
        try coordinator.remove(store)
        #expect(scratch.contents == before)
    }

    @Test(arguments: StoreKind.planning.filter(\.isFile))
    func `Metadata that cannot be written is tried again with the next save`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        stack.coordinator.setMetadata(["note": Unlisted()], for: stack.persistentStore)
        #expect(stack.coordinator.metadata(for: stack.persistentStore)["note"] is Unlisted)
        stack.insert("Tag", ["label": "a"])
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(stack.context.insertedObjects.count == 1)
        stack.coordinator.setMetadata(["note": "good"], for: stack.persistentStore)
        try stack.context.save()
        let store = stack.persistentStore
        #expect(store.metadata["note"] as? String == "good" && store.metadata[NSStoreUUIDKey] as? String == store.identifier)
        let again = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let read = try again.addPersistentStore(ofType: kind.type, configurationName: nil, at: stack.url, options: nil)
        #expect(read.metadata["note"] as? String == "good")
    }

    /// A value that a property list cannot have.
    private final class Unlisted: NSObject {}

    @Test(arguments: [TimeInterval.infinity, -.infinity, .nan, 1e300, -1, 0])
    func `Any timeout is accepted`(_ timeout: TimeInterval) throws {
        let scratch = try ScratchDirectory(), told = Told()
        let descriptions = [NSRecordLogStoreType, NSBinaryStoreType].map { type in
            let description = NSPersistentStoreDescription(url: scratch[type])
            (description.type, description.timeout) = (type, timeout)
            return description
        }
        let container = container(descriptions)
        container.loadPersistentStores { told.note($0, $1) }
        #expect(told.errors.count == 2 && told.errors.allSatisfy { $0 == nil })
    }

    /// Tests and previews on Apple's platforms use this path.
    @Test
    func `A store at the null device is in memory`() throws {
        let told = Told(), url = URL(fileURLWithPath: "/dev/null")
        let container = container([NSPersistentStoreDescription(url: url)])
        container.loadPersistentStores { told.note($0, $1) }
        #expect(told.errors.count == 1 && told.errors.allSatisfy { $0 == nil })
        let coordinator = container.persistentStoreCoordinator, context = container.newBackgroundContext()
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue("a", forKey: "name")
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        }
        #expect(coordinator.persistentStores.map(\.type) == [NSInMemoryStoreType] && coordinator.persistentStores[0].url == url)
        // Each is a separate store.
        try coordinator.addPersistentStore(type: .recordLog, at: url)
        try coordinator.destroyPersistentStore(at: url, type: .recordLog)
        #expect(coordinator.persistentStores.count == 2 && FileManager.default.fileExists(atPath: "/dev/null"))
    }
}
